"""Codes of 4 or 8 bits in 32-bit words, the layout of compressed-tensors' `pack-quantized`.

A word holds 32 / bits codes of one row, the first in its lowest bits. Codes are signed; a word
holds code + 2^(bits-1), so that every field is a plain unsigned number.
"""

from __future__ import annotations

import torch
from torch import Tensor

PACKED_BITS = (4, 8)


def words_for(count: int, bits: int) -> int:
    """Words that `count` codes occupy."""
    return -(-count * bits // 32)


def pack(codes: Tensor, bits: int) -> Tensor:
    """int8 codes [N, K] in -2^(bits-1) .. 2^(bits-1) - 1 -> int32 [N, ceil(K * bits / 32)].

    Unused fields of a row's last word hold the code of lowest value. Raises ValueError for other
    bits and for codes out of range.
    """
    half = _half(bits)
    if codes.numel() and not (-half <= int(codes.min()) and int(codes.max()) < half):
        raise ValueError(f"codes of {bits} bits lie in {-half} .. {half - 1}")
    rows, count = codes.shape
    fields = torch.zeros(rows, words_for(count, bits) * 32 // bits, dtype=torch.uint8)
    fields[:, :count] = (codes.to(torch.int16) + half).to(torch.uint8).cpu()
    if bits == 4:
        fields = fields[:, 0::2] | (fields[:, 1::2] << 4)
    return fields.contiguous().view(torch.int32).to(codes.device)


def unpack(words: Tensor, bits: int, count: int) -> Tensor:
    """The first `count` codes of each row -> int8 [N, count]."""
    half = _half(bits)
    if words.dtype != torch.int32 or words.shape[1] != words_for(count, bits):
        raise ValueError(
            f"{count} codes of {bits} bits are int32 [N, {words_for(count, bits)}], "
            f"got {words.dtype} {list(words.shape)}"
        )
    fields = words.contiguous().view(torch.uint8)
    if bits == 8:
        return (fields ^ 0x80).view(torch.int8)[:, :count]  # the top bit is what + 128 turns
    both = torch.stack((fields & 15, fields >> 4), dim=-1).flatten(1)
    return both[:, :count].view(torch.int8) - half


def _half(bits: int) -> int:
    if bits not in PACKED_BITS:
        raise ValueError(f"bits must be one of {PACKED_BITS} to be packed, got {bits}")
    return 1 << (bits - 1)
