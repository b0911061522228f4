"""Reference of 10.2."""

from minillm.compress.packing import unpack


class Int4Linear:
    def __init__(self, words_NW, scale_NG, group, K):
        self.words_NW, self.scale_NG, self.group, self.K = words_NW, scale_NG, group, K

    def __call__(self, x_TK):
        codes_NK = unpack(self.words_NW, 4, self.K)
        scale_NK = self.scale_NG.float().repeat_interleave(self.group, dim=1)[:, : self.K]
        weight_NK = codes_NK * scale_NK
        return x_TK @ weight_NK.T
