"""Reference of 9.6."""

import torch


class Int8Linear:
    def __init__(self, codes_NK, scale_N):
        self.codes_NK, self.scale_N = codes_NK, scale_N.bfloat16()

    def __call__(self, x_TK):
        out_TN = torch._weight_int8pack_mm(x_TK.bfloat16(), self.codes_NK, self.scale_N)
        return out_TN.float()
