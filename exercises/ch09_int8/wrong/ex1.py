"""Named wrong answers of 9.1."""

import torch


def _scale(weight_NK):
    scale_N1 = weight_NK.abs().amax(1, keepdim=True) / 127
    return torch.where(scale_N1 == 0, 1.0, scale_N1)


class _Layer:
    def __init__(self, weight_NK, bias_N):
        self.scale_N1, self.bias_N = self._choose(weight_NK), bias_N
        self.codes_NK = self._code(weight_NK / self.scale_N1)

    _choose = staticmethod(_scale)
    _code = staticmethod(lambda ratio_NK: ratio_NK.round().clamp(-127, 127).to(torch.int8))

    def __call__(self, x_TK):
        out_TN = x_TK @ (self.codes_NK * self.scale_N1).T
        return out_TN if self.bias_N is None else out_TN + self.bias_N


class keeps_the_weights(_Layer):
    """keeping the float matrix beside the codes (5 bytes a weight, more than before)"""

    def __init__(self, weight_NK, bias_N):
        super().__init__(weight_NK, bias_N)
        self.weight_NK = self.codes_NK * self.scale_N1


class cuts_instead_of_rounding(_Layer):
    """cutting the fraction off instead of rounding (.to(torch.int8) alone)"""

    _code = staticmethod(lambda ratio_NK: ratio_NK.to(torch.int8))


class one_scale(_Layer):
    """one scale for the whole matrix"""

    _choose = staticmethod(lambda w_NK: (w_NK.abs().max() / 127).expand(len(w_NK), 1).clone())


class signed_maximum(_Layer):
    """the largest value of the row, without the sign taken off first"""

    @staticmethod
    def _choose(weight_NK):
        scale_N1 = weight_NK.amax(1, keepdim=True) / 127
        return torch.where(scale_N1 == 0, 1.0, scale_N1)


class scale_on_the_bias(_Layer):
    """multiplying the bias by the scale, too"""

    def __call__(self, x_TK):
        out_TN = x_TK @ self.codes_NK.float().T
        out_TN = out_TN if self.bias_N is None else out_TN + self.bias_N
        return out_TN * self.scale_N1.T


class zero_scale(_Layer):
    """scale 0 for a row of zeros (0 / 0 is NaN)"""

    _choose = staticmethod(lambda w_NK: w_NK.abs().amax(1, keepdim=True) / 127)

    def __call__(self, x_TK):
        weight_NK = self.codes_NK * self.scale_N1 / (self.scale_N1 / self.scale_N1)
        out_TN = x_TK @ weight_NK.T
        return out_TN if self.bias_N is None else out_TN + self.bias_N


class no_bias(_Layer):
    """leaving out the bias"""

    def __call__(self, x_TK):
        return x_TK @ (self.codes_NK * self.scale_N1).T
