"""Named wrong answers of 4.2."""

import torch


def _attend(q_THK, k_LGK, v_LGK, seen_TL, scale, widen=None):
    share = q_THK.shape[1] // k_LGK.shape[1]
    widen = widen or (lambda x: x.repeat_interleave(share, dim=1))
    scores = torch.einsum("thk,lhk->htl", q_THK, widen(k_LGK)) * scale
    probs = scores.masked_fill(~seen_TL, float("-inf")).softmax(-1)
    return torch.einsum("htl,lhk->thk", probs, widen(v_LGK))


def _append(k_strip, v_strip, start, k_TGK, v_TGK):
    end = start + len(k_TGK)
    k_strip[start:end], v_strip[start:end] = k_TGK, v_TGK
    return end


def _mask(start, end):
    return torch.arange(end) <= torch.arange(start, end)[:, None]


def mask_topleft(k_strip, v_strip, length, q_THK, k_TGK, v_TGK, scale):
    """a mask aligned top-left (query t sees keys 0 to t, as if the cache were empty)"""
    end = _append(k_strip, v_strip, length, k_TGK, v_TGK)
    seen = torch.arange(end) <= torch.arange(len(q_THK))[:, None]
    return _attend(q_THK, k_strip[:end], v_strip[:end], seen, scale)


def no_mask(k_strip, v_strip, length, q_THK, k_TGK, v_TGK, scale):
    """no mask, so that a new token also sees the new tokens after it"""
    end = _append(k_strip, v_strip, length, k_TGK, v_TGK)
    seen = torch.ones(len(q_THK), end, dtype=torch.bool)
    return _attend(q_THK, k_strip[:end], v_strip[:end], seen, scale)


def new_tokens_only(k_strip, v_strip, length, q_THK, k_TGK, v_TGK, scale):
    """attention over the new keys alone (the cache is written but not read)"""
    _append(k_strip, v_strip, length, k_TGK, v_TGK)
    return _attend(q_THK, k_TGK, v_TGK, _mask(0, len(q_THK)), scale)


def cached_tokens_only(k_strip, v_strip, length, q_THK, k_TGK, v_TGK, scale):
    """attention to the cached tokens alone, without the new ones"""
    _append(k_strip, v_strip, length, k_TGK, v_TGK)
    seen = torch.ones(len(q_THK), length, dtype=torch.bool)
    return _attend(q_THK, k_strip[:length], v_strip[:length], seen, scale)


def heads_tiled(k_strip, v_strip, length, q_THK, k_TGK, v_TGK, scale):
    """repeating the KV heads as 0 1 0 1 instead of 0 0 1 1"""
    end = _append(k_strip, v_strip, length, k_TGK, v_TGK)
    share = q_THK.shape[1] // k_TGK.shape[1]
    widen = lambda x: x.repeat(1, share, 1)
    return _attend(q_THK, k_strip[:end], v_strip[:end], _mask(length, end), scale, widen)


def overwrites_the_start(k_strip, v_strip, length, q_THK, k_TGK, v_TGK, scale):
    """writing the new rows at the start of the strip, over the earlier tokens"""
    _append(k_strip, v_strip, 0, k_TGK, v_TGK)
    end = length + len(k_TGK)
    return _attend(q_THK, k_strip[:end], v_strip[:end], _mask(length, end), scale)


def reads_the_empty_part(k_strip, v_strip, length, q_THK, k_TGK, v_TGK, scale):
    """reading the whole strip with a mask (weight 0 times NaN is NaN)"""
    end = _append(k_strip, v_strip, length, k_TGK, v_TGK)
    seen = torch.arange(len(k_strip)) <= torch.arange(length, end)[:, None]
    return _attend(q_THK, k_strip, v_strip, seen, scale)


def no_scale(k_strip, v_strip, length, q_THK, k_TGK, v_TGK, scale):
    """leaving out the scale"""
    end = _append(k_strip, v_strip, length, k_TGK, v_TGK)
    return _attend(q_THK, k_strip[:end], v_strip[:end], _mask(length, end), 1.0)


def scale_of_its_own(k_strip, v_strip, length, q_THK, k_TGK, v_TGK, scale):
    """1 / sqrt(K), whatever scale is given"""
    end = _append(k_strip, v_strip, length, k_TGK, v_TGK)
    own = q_THK.shape[-1] ** -0.5
    return _attend(q_THK, k_strip[:end], v_strip[:end], _mask(length, end), own)
