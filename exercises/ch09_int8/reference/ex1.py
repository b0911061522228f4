"""Reference of 9.1."""

import torch


class QuantLinear:
    def __init__(self, weight_NK, bias_N):
        scale_N1 = weight_NK.abs().amax(1, keepdim=True) / 127
        self.scale_N1 = torch.where(scale_N1 == 0, 1.0, scale_N1)
        self.codes_NK = (weight_NK / self.scale_N1).round().to(torch.int8)
        self.bias_N = bias_N

    def __call__(self, x_TK):
        weight_NK = self.codes_NK * self.scale_N1
        out_TN = x_TK @ weight_NK.T
        return out_TN if self.bias_N is None else out_TN + self.bias_N
