"""Other right answers of 10.2."""

import torch
from torch import nn

from minillm.compress.packing import unpack


class group_by_group(nn.Module):
    """A product for each group; its scale comes after the sum."""

    def __init__(self, words_NW, scale_NG, group, K):
        super().__init__()
        self.register_buffer("words_NW", words_NW)
        self.register_buffer("scale_NG", scale_NG.float())
        self.group, self.K = group, K

    def forward(self, x_TK):
        codes_NK, out_TN = unpack(self.words_NW, 4, self.K).float(), 0
        for g, start in enumerate(range(0, self.K, self.group)):
            part = slice(start, start + self.group)
            out_TN = out_TN + x_TK[:, part] @ codes_NK[:, part].T * self.scale_NG[:, g]
        return out_TN


class row_by_row:
    """One row of the matrix at a time, unpacked by shifts: little memory at any moment."""

    def __init__(self, words_NW, scale_NG, group, K):
        self.words_NW, self.scale_NG, self.place_K = (
            words_NW,
            scale_NG,
            [k // group for k in range(K)],
        )

    def __call__(self, x_TK):
        columns = []
        for words_W, scale_G in zip(self.words_NW, self.scale_NG):
            fields = (words_W[:, None] >> torch.arange(0, 32, 4)) & 15
            codes_K = fields.flatten()[: len(self.place_K)] - 8
            columns.append(x_TK @ (codes_K * scale_G.float()[self.place_K]))
        return torch.stack(columns, dim=1)
