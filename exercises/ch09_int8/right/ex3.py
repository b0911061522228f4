"""Other right answers of 9.3."""

import torch


class a_list_of_pieces:
    def __init__(self, max_len, G, K):
        self.pieces = []

    def append(self, x_TGK):
        largest = x_TGK.abs().max(dim=-1, keepdim=True).values
        scale = torch.where(largest > 0, largest / 127, torch.ones_like(largest))
        self.pieces.append((torch.round(x_TGK / scale).to(torch.int8), scale))

    def read(self):
        return torch.cat([codes.float() * scale for codes, scale in self.pieces])


class token_by_token:
    def __init__(self, max_len, G, K):
        self.codes = torch.empty(max_len, G, K, dtype=torch.int8)
        self.scale, self.length = torch.empty(max_len, G), 0

    def append(self, x_TGK):
        for x_GK in x_TGK:
            for g, x_K in enumerate(x_GK):
                scale = x_K.abs().max() / 127
                scale = scale if scale > 0 else torch.tensor(1.0)
                self.scale[self.length, g] = scale
                self.codes[self.length, g] = (x_K / scale).round().to(torch.int8)
            self.length += 1

    def read(self):
        return self.codes[: self.length].float() * self.scale[: self.length, :, None]
