"""Reference of 10.1."""

import torch
import torch.nn.functional as F


class Int4Words:
    def pack(self, codes_NK):
        N, K = codes_NK.shape
        fields_NW8 = F.pad(codes_NK.int() + 8, (0, -K % 8)).view(N, -1, 8)
        return (fields_NW8 << torch.arange(0, 32, 4)).sum(-1).to(torch.int32)

    def unpack(self, words_NW, K):
        fields_NW8 = words_NW[:, :, None] >> torch.arange(0, 32, 4) & 15
        return (fields_NW8.flatten(1)[:, :K] - 8).to(torch.int8)
