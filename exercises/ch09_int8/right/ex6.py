"""Other right answers of 9.6."""

import torch

from minillm import quant_ops


class scale_outside:
    def __init__(self, codes_NK, scale_N):
        self.codes_NK, self.scale_N = codes_NK.contiguous(), scale_N
        self.ones_N = torch.ones(len(scale_N), dtype=torch.bfloat16)

    def __call__(self, x_TK):
        out_TN = torch._weight_int8pack_mm(x_TK.to(torch.bfloat16), self.codes_NK, self.ones_N)
        return out_TN.float() * self.scale_N


class by_the_package:
    def __init__(self, codes_NK, scale_N):
        self.layout = quant_ops.int8_layout(codes_NK, scale_N[:, None])

    def __call__(self, x_TK):
        return quant_ops.int8_matmul(x_TK, self.layout)
