"""Named wrong answers of 4.6."""

import numpy
import torch


class glues_pieces:
    """a list of pieces that are glued together at every step"""

    def __init__(self, max_len, num_kv_heads, head_size):
        self.k, self.v = [], []

    def append(self, k_TGK, v_TGK):
        self.k.append(k_TGK)
        self.v.append(v_TGK)
        return torch.cat(self.k), torch.cat(self.v)


class _Strip:
    def __init__(self, max_len, num_kv_heads, head_size):
        self.kv = torch.empty(2, max_len, num_kv_heads, head_size)
        self.length = 0

    def _write(self, k_TGK, v_TGK):
        end = self.length + len(k_TGK)
        self.kv[0, self.length : end], self.kv[1, self.length : end] = k_TGK, v_TGK
        self.length = end
        return end


class copies_what_it_returns(_Strip):
    """a strip of which append returns a copy"""

    def append(self, k_TGK, v_TGK):
        end = self._write(k_TGK, v_TGK)
        return self.kv[0, :end].clone(), self.kv[1, :end].clone()


class values_still_glued(_Strip):
    """a strip for the keys while the values are still glued"""

    def append(self, k_TGK, v_TGK):
        end = self.length + len(k_TGK)
        self.kv[0, self.length : end] = k_TGK
        self.v = torch.cat([self.v, v_TGK]) if self.length else v_TGK.clone()
        self.length = end
        return self.kv[0, :end], self.v


class returns_the_empty_part(_Strip):
    """returning the whole strip, with the rows that hold nothing yet"""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.kv.zero_()

    def append(self, k_TGK, v_TGK):
        self._write(k_TGK, v_TGK)
        return self.kv[0], self.kv[1]


class grows_by_a_few(_Strip):
    """a buffer that grows by 4 rows whenever it is full (each time all is copied)"""

    def __init__(self, max_len, num_kv_heads, head_size):
        super().__init__(0, num_kv_heads, head_size)

    def append(self, k_TGK, v_TGK):
        while self.kv.shape[1] < self.length + len(k_TGK):
            self.kv = torch.cat([self.kv, self.kv.new_empty(2, 4, *k_TGK.shape[1:])], dim=1)
        end = self._write(k_TGK, v_TGK)
        return self.kv[0, :end], self.kv[1, :end]


class copies_in_numpy:
    """arrays glued by NumPy: the copies are the same, only torch does not see them"""

    def __init__(self, max_len, num_kv_heads, head_size):
        self.kv = numpy.empty((2, 0, num_kv_heads, head_size), dtype=numpy.float32)

    def append(self, k_TGK, v_TGK):
        new = numpy.stack([k_TGK.numpy(), v_TGK.numpy()])
        self.kv = numpy.concatenate([self.kv, new], axis=1)
        return torch.from_numpy(self.kv[0]), torch.from_numpy(self.kv[1])
