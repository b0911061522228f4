"""Named wrong answers of 4.7."""

import torch


def _attend(q_HK, k_LGK, v_LGK, scale):
    share = q_HK.shape[0] // k_LGK.shape[1]
    k_LHK, v_LHK = k_LGK.repeat_interleave(share, 1), v_LGK.repeat_interleave(share, 1)
    probs_HL = (torch.einsum("hk,lhk->hl", q_HK, k_LHK) * scale).softmax(-1)
    return torch.einsum("hl,lhk->hk", probs_HL, v_LHK)


def reads_empty_rows(k_ring, v_ring, position, q_HK, k_GK, v_GK, scale):
    """reading all W rows from the start, also those that hold nothing yet"""
    row = position % len(k_ring)
    k_ring[row], v_ring[row] = k_GK, v_GK
    return _attend(q_HK, k_ring, v_ring, scale)


def last_row_again(k_ring, v_ring, position, q_HK, k_GK, v_GK, scale):
    """writing the last row again and again once the ring is full"""
    row = min(position, len(k_ring) - 1)
    k_ring[row], v_ring[row] = k_GK, v_GK
    return _attend(q_HK, k_ring[: row + 1], v_ring[: row + 1], scale)


def forgets_at_the_turn(k_ring, v_ring, position, q_HK, k_GK, v_GK, scale):
    """reading only the rows up to the new one (older tokens are lost after a turn)"""
    row = position % len(k_ring)
    k_ring[row], v_ring[row] = k_GK, v_GK
    return _attend(q_HK, k_ring[: row + 1], v_ring[: row + 1], scale)


def not_itself(k_ring, v_ring, position, q_HK, k_GK, v_GK, scale):
    """attention before the new row is written"""
    held, row = min(position, len(k_ring)), position % len(k_ring)
    out = _attend(q_HK, k_ring[:held], v_ring[:held], scale)
    k_ring[row], v_ring[row] = k_GK, v_GK
    return out


def window_one_short(k_ring, v_ring, position, q_HK, k_GK, v_GK, scale):
    """a window of W - 1 rows"""
    window = max(len(k_ring) - 1, 1)
    k_ring[position % window], v_ring[position % window] = k_GK, v_GK
    held = min(position + 1, window)
    return _attend(q_HK, k_ring[:held], v_ring[:held], scale)


def heads_tiled(k_ring, v_ring, position, q_HK, k_GK, v_GK, scale):
    """repeating the KV heads as 0 1 0 1 instead of 0 0 1 1"""
    row, held = position % len(k_ring), min(position + 1, len(k_ring))
    k_ring[row], v_ring[row] = k_GK, v_GK
    share = q_HK.shape[0] // k_GK.shape[0]
    widen = lambda ring: ring[:held].repeat(1, share, 1)
    return _attend(q_HK, widen(k_ring), widen(v_ring), scale)


def scale_of_its_own(k_ring, v_ring, position, q_HK, k_GK, v_GK, scale):
    """1 / sqrt(K), whatever scale is given"""
    row, held = position % len(k_ring), min(position + 1, len(k_ring))
    k_ring[row], v_ring[row] = k_GK, v_GK
    return _attend(q_HK, k_ring[:held], v_ring[:held], q_HK.shape[-1] ** -0.5)
