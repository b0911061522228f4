"""Named wrong answers of 10.2."""

import torch

from minillm.compress.packing import unpack


class _Layer:
    def __init__(self, words_NW, scale_NG, group, K):
        self.words_NW, self.scale_NG, self.group, self.K = words_NW, scale_NG, group, K

    def __call__(self, x_TK):
        return x_TK @ self.weight().T

    def weight(self):
        return self.codes() * self.spread()

    def codes(self):
        return unpack(self.words_NW, 4, self.K)

    def spread(self):
        return self.scale_NG.float().repeat_interleave(self.group, dim=1)[:, : self.K]


class scales_in_turns(_Layer):
    """the scales laid out in turns (repeat), not each for its neighbours (repeat_interleave)"""

    def spread(self):
        return self.scale_NG.float().repeat(1, self.group)[:, : self.K]


class first_scale_only(_Layer):
    """the scale of the first group for the whole row"""

    def spread(self):
        return self.scale_NG[:, :1].float()


class groups_of_equal_size(_Layer):
    """groups of K / G columns (rounded up) where the last group should be the short one"""

    def spread(self):
        size = -(-self.K // self.scale_NG.shape[1])
        return self.scale_NG.float().repeat_interleave(size, dim=1)[:, : self.K]


class fields_for_codes(_Layer):
    """the fields 0 .. 15 in place of the codes -8 .. 7"""

    def codes(self):
        return super().codes() + 8


class product_in_bfloat16(_Layer):
    """codes times scales in bfloat16, so every weight is rounded once more"""

    def weight(self):
        return (self.codes() * self.spread().bfloat16()).float()


class forgets_the_scales(_Layer):
    """codes without their scales"""

    def spread(self):
        return torch.ones(1)


class divides(_Layer):
    """codes divided by their scales"""

    def weight(self):
        return self.codes() / self.spread()


class keeps_the_values(_Layer):
    """a float32 matrix kept from the first call on, 4 bytes a weight"""

    kept = None

    def __call__(self, x_TK):
        self.kept = self.weight() if self.kept is None else self.kept
        return x_TK @ self.kept.T


class keeps_the_codes(_Layer):
    """codes kept unpacked beside the words, one more byte a weight"""

    def __init__(self, words_NW, scale_NG, group, K):
        super().__init__(words_NW, scale_NG, group, K)
        self.codes_NK = super().codes()


class codes_for_words(_Layer):
    """codes kept unpacked in place of the words, one byte a weight: this is int8"""

    def __init__(self, words_NW, scale_NG, group, K):
        super().__init__(words_NW, scale_NG, group, K)
        self.words_NW = unpack(words_NW, 4, K)

    def codes(self):
        return self.words_NW
