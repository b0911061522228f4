"""Named wrong answers of 10.1."""

import torch
import torch.nn.functional as F


class _Words:
    shifts = torch.arange(0, 32, 4)

    def pack(self, codes_NK):
        return self._to_words(self._fill(codes_NK.int() + 8))

    def unpack(self, words_NW, K):
        return (self._to_fields(words_NW)[:, :K] - 8).to(torch.int8)

    def _fill(self, fields_NK, value=0):
        return F.pad(fields_NK, (0, -fields_NK.shape[1] % 8), value=value)

    def _to_words(self, fields_NK):
        grouped = fields_NK.reshape(len(fields_NK), -1, 8)
        return (grouped << self.shifts).sum(-1).to(torch.int32)

    def _to_fields(self, words_NW):
        return (words_NW[:, :, None] >> self.shifts & 15).flatten(1)


class highest_bits_first(_Words):
    """the first code in the highest 4 bits (big-endian nibbles)"""

    shifts = torch.arange(28, -4, -4)


class high_half_of_a_byte_first(_Words):
    """the first code of every byte in its high half, as bitsandbytes has it"""

    shifts = torch.tensor([4, 0, 12, 8, 20, 16, 28, 24])


class order_of_awq(_Words):
    """the order of AWQ's files: 0, 2, 4, 6, 1, 3, 5, 7"""

    shifts = torch.tensor([0, 16, 4, 20, 8, 24, 12, 28])


class no_offset(_Words):
    """fields without the + 8: a negative code keeps the low 4 bits of its two's complement"""

    def pack(self, codes_NK):
        return self._to_words(self._fill(codes_NK.int() & 15))

    def unpack(self, words_NW, K):
        fields_NK = self._to_fields(words_NW)[:, :K]
        return torch.where(fields_NK > 7, fields_NK - 16, fields_NK).to(torch.int8)


class fields_with_a_sign(_Words):
    """a highest field that keeps the word's sign, because & 15 was left out there"""

    def _to_fields(self, words_NW):
        fields_NW8 = words_NW[:, :, None] >> self.shifts
        fields_NW8[:, :, :7] &= 15
        return fields_NW8.flatten(1)


class never_negative(_Words):
    """words cut off at 2^31 - 1: where the highest field is 8 or more, all fields are lost"""

    def _to_words(self, fields_NK):
        grouped = fields_NK.long().reshape(len(fields_NK), -1, 8)
        return (grouped << self.shifts).sum(-1).clamp(max=2**31 - 1).to(torch.int32)


class along_N(_Words):
    """packing along N: a word holds eight rows of one column"""

    def pack(self, codes_NK):
        return super().pack(codes_NK.T).T.contiguous()


class last_codes_cut_off(_Words):
    """a row whose length is no multiple of 8 cut off at its last full word"""

    def pack(self, codes_NK):
        return super().pack(codes_NK[:, : codes_NK.shape[1] // 8 * 8])

    def unpack(self, words_NW, K):
        return super().unpack(words_NW, K // 8 * 8)


class filled_with_code_0(_Words):
    """code 0 in the fields that no code needs, so they hold 8 and not 0"""

    def _fill(self, fields_NK):
        return super()._fill(fields_NK, 8)


class unused_fields_too(_Words):
    """unpacking all fields, those behind the K-th too"""

    def unpack(self, words_NW, K):
        return super().unpack(words_NW, None)


class shifted_as_int8(_Words):
    """fields shifted while they are int8: only fields 0 and 1 have room there"""

    def _to_words(self, fields_NK):
        grouped = fields_NK.to(torch.int8).reshape(len(fields_NK), -1, 8)
        return (grouped << self.shifts.to(torch.int8)).sum(-1).to(torch.int32)


class powers_in_float32(_Words):
    """fields times 16.0 ** place, in float32: it keeps 24 bits, and int32 cuts what is too large"""

    def _to_words(self, fields_NK):
        grouped = fields_NK.reshape(len(fields_NK), -1, 8)
        total = torch.zeros(grouped.shape[:2])
        for place in range(8):
            total = total + grouped[..., place] * 16.0**place
        return total.to(torch.int32)


class powers_in_float64(_Words):
    """fields times 16.0 ** place, in float64: exact, but int32 has no room for 2^31 and more"""

    def _to_words(self, fields_NK):
        grouped = fields_NK.double().reshape(len(fields_NK), -1, 8)
        return (grouped * 16.0 ** torch.arange(8)).sum(-1).to(torch.int32)


class no_mask(_Words):
    """no & 15 after the shift: the higher fields of the word still stand above"""

    def _to_fields(self, words_NW):
        return (words_NW[:, :, None] >> self.shifts).flatten(1)
