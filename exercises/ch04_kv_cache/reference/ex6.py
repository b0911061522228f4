"""Reference of 4.6."""

import torch


class GrowingCache:
    def __init__(self, max_len, num_kv_heads, head_size):
        self.k = torch.empty(max_len, num_kv_heads, head_size)
        self.v, self.length = torch.empty_like(self.k), 0

    def append(self, k_TGK, v_TGK):
        end = self.length + len(k_TGK)
        self.k[self.length : end], self.v[self.length : end] = k_TGK, v_TGK
        self.length = end
        return self.k[:end], self.v[:end]
