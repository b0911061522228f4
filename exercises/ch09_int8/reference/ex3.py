"""Reference of 9.3."""

import torch


class Int8Strip:
    def __init__(self, max_len, G, K):
        self.codes = torch.zeros(max_len, G, K, dtype=torch.int8)
        self.scale, self.length = torch.ones(max_len, G, 1), 0

    def append(self, x_TGK):
        end = self.length + len(x_TGK)
        scale_TG1 = x_TGK.abs().amax(-1, keepdim=True) / 127
        scale_TG1 = torch.where(scale_TG1 == 0, 1.0, scale_TG1)
        self.codes[self.length : end] = (x_TGK / scale_TG1).round().to(torch.int8)
        self.scale[self.length : end] = scale_TG1
        self.length = end

    def read(self):
        return self.codes[: self.length] * self.scale[: self.length]
