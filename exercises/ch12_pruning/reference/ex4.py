"""Reference of 12.4."""

import torch
import torch.nn.functional as F

SHIFTS = torch.tensor([0, 2, 4, 6])


class TwoOfFour:
    def keep(self, weight_NK):
        if weight_NK.shape[1] % 4:
            raise ValueError(f"4 does not divide {weight_NK.shape[1]} columns")
        order_NG4 = weight_NK.abs().unflatten(1, (-1, 4)).argsort(dim=-1, stable=True)
        mask_NG4 = torch.ones_like(order_NG4, dtype=torch.bool)
        return mask_NG4.scatter(-1, order_NG4[..., :2], False).flatten(1)

    def pack(self, weight_NK):
        mask_NK = self.keep(weight_NK)
        N, K = weight_NK.shape
        place_NV = (torch.arange(K) % 4).expand(N, K)[mask_NK].view(N, K // 2)
        fields_NB4 = F.pad(place_NV, (0, -place_NV.shape[1] % 4)).unflatten(1, (-1, 4))
        bytes_NB = (fields_NB4 << SHIFTS).sum(-1).to(torch.uint8)
        return weight_NK[mask_NK].view(N, K // 2), bytes_NB

    def unpack(self, value_NV, bytes_NB):
        N, V = value_NV.shape
        place_NV = (bytes_NB[..., None].int() >> SHIFTS & 3).flatten(1)[:, :V]
        column_NV = 4 * (torch.arange(V) // 2) + place_NV
        return torch.zeros(N, 2 * V).scatter(1, column_NV, value_NV)
