"""Other right answers of 10.1."""

import torch


class through_bytes:
    """The lowest byte comes first in memory: two fields a byte, four bytes seen as one word."""

    def pack(self, codes_NK):
        N, K = codes_NK.shape
        fields = torch.zeros(N, -(-K // 8) * 8, dtype=torch.uint8)
        fields[:, :K] = (codes_NK + 8).to(torch.uint8)
        return (fields[:, 0::2] + 16 * fields[:, 1::2]).view(torch.int32)

    def unpack(self, words_NW, K):
        bytes_NB = words_NW.contiguous().view(torch.uint8)
        both = torch.stack((bytes_NB % 16, bytes_NB // 16), dim=2)
        return both.reshape(len(words_NW), -1)[:, :K].to(torch.int8) - 8


class with_plain_numbers:
    def pack(self, codes_NK):
        rows = []
        for row in codes_NK.tolist():
            words = [sum((c + 8) << 4 * i for i, c in enumerate(row[k : k + 8]))
                     for k in range(0, len(row), 8)]  # fmt: skip
            rows.append([w - 2**32 if w >= 2**31 else w for w in words])
        return torch.tensor(rows, dtype=torch.int32)

    def unpack(self, words_NW, K):
        take = lambda row, k: ((row[k // 8] % 2**32) // 16 ** (k % 8)) % 16 - 8
        rows = [[take(row, k) for k in range(K)] for row in words_NW.tolist()]
        return torch.tensor(rows, dtype=torch.int8)
