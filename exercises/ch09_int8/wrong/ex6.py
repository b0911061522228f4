"""Named wrong answers of 9.6."""

import torch


class _Layer:
    def __init__(self, codes_NK, scale_N):
        self.codes_NK, self.scale_N = codes_NK, scale_N


class keeps_the_matrix(_Layer):
    """a float matrix made once and kept (5 bytes a weight: nothing is saved)"""

    def __init__(self, codes_NK, scale_N):
        super().__init__(codes_NK, scale_N)
        self.weight_NK = codes_NK * scale_N[:, None]

    def __call__(self, x_TK):
        return x_TK @ self.weight_NK.T


class keeps_it_from_the_first_call(_Layer):
    """a float matrix made at the first call and kept from then on"""

    weight_NK = None

    def __call__(self, x_TK):
        if self.weight_NK is None:
            self.weight_NK = self.codes_NK * self.scale_N[:, None]
        return x_TK @ self.weight_NK.T


class scale_afterwards(_Layer):
    """the scale after the product, while the codes still become a float matrix"""

    def __call__(self, x_TK):
        return x_TK @ self.codes_NK.float().T * self.scale_N


class in_16_bits(_Layer):
    """a matrix of 16 bits made in every call: smaller, but made"""

    def __call__(self, x_TK):
        weight_NK = self.codes_NK.bfloat16() * self.scale_N.bfloat16()[:, None]
        return (x_TK.bfloat16() @ weight_NK.T).float()


class row_by_row(_Layer):
    """a float copy of one row after another: in the end as many bytes"""

    def __call__(self, x_TK):
        rows = [x_TK @ codes_K.float() * s for codes_K, s in zip(self.codes_NK, self.scale_N)]
        return torch.stack(rows, dim=1)


class forgets_the_scale(_Layer):
    """the packed product with scales of 1"""

    def __call__(self, x_TK):
        ones_N = torch.ones_like(self.scale_N).bfloat16()
        return torch._weight_int8pack_mm(x_TK.bfloat16(), self.codes_NK, ones_N).float()
