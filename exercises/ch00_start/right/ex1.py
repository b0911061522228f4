"""Other right answers of 0.1."""

import torch


def with_index_copy(pool, slots, rows, wanted):
    pool.index_copy_(0, slots, rows)
    return torch.index_select(pool, 0, wanted)


def with_scatter(pool, slots, rows, wanted):
    width = pool.shape[1]
    pool.scatter_(0, slots[:, None].expand(-1, width), rows)
    return pool.gather(0, wanted[:, None].expand(-1, width))
