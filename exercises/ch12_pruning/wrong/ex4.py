"""Named wrong answers of 12.4."""

import torch
import torch.nn.functional as F


class _Form:
    shifts = (0, 2, 4, 6)
    least = 2  # dropped of a group
    group = 4

    def keep(self, weight_NK):
        self.check(weight_NK.shape[1])
        grouped_NGg = self.size(weight_NK).unflatten(1, (-1, self.group))
        order_NGg = grouped_NGg.argsort(dim=-1, stable=True)
        mask_NGg = torch.ones_like(order_NGg, dtype=torch.bool)
        return mask_NGg.scatter(-1, order_NGg[..., : self.group // 2], False).flatten(1)

    def check(self, K):
        if K % 4:
            raise ValueError(K)

    def size(self, weight_NK):
        return weight_NK.abs()

    def pack(self, weight_NK):
        mask_NK = self.keep(weight_NK)
        value_NV = weight_NK[mask_NK].view(len(weight_NK), -1)
        return value_NV, self.to_bytes(self.places(mask_NK))

    def places(self, mask_NK):
        K = mask_NK.shape[1]
        return (torch.arange(K) % 4).expand_as(mask_NK)[mask_NK].view(len(mask_NK), -1)

    def to_bytes(self, place_NV):
        fields = F.pad(place_NV, (0, -place_NV.shape[1] % 4)).unflatten(1, (-1, 4))
        return (fields << torch.tensor(self.shifts)).sum(-1).to(torch.uint8)

    def from_bytes(self, bytes_NB, V):
        fields = bytes_NB[..., None].int() >> torch.tensor(self.shifts) & 3
        return fields.flatten(1)[:, :V]

    def unpack(self, value_NV, bytes_NB):
        N, V = value_NV.shape
        column_NV = self.columns(self.from_bytes(bytes_NB, V))
        return torch.zeros(N, 2 * V).scatter(1, column_NV, value_NV)

    def columns(self, place_NV):
        return 4 * (torch.arange(place_NV.shape[1]) // 2) + place_NV


class two_smallest_kept(_Form):
    """the two smallest of each group kept"""

    def size(self, weight_NK):
        return -weight_NK.abs()


class with_the_sign(_Form):
    """the two largest w of a group, not the two largest |w|"""

    def size(self, weight_NK):
        return weight_NK


class last_of_equals_first(_Form):
    """of equals the one further right dropped first"""

    def keep(self, weight_NK):
        return super().keep(weight_NK.flip(1)).flip(1)


class four_of_eight(_Form):
    """four of every eight kept where 8 divides K: a group of four may lose three"""

    def keep(self, weight_NK):
        self.group = 4 if weight_NK.shape[1] % 8 else 8
        return super().keep(weight_NK)


class groups_that_stride(_Form):
    """groups of columns that lie K/4 apart, as view(4, K/4) makes them"""

    def keep(self, weight_NK):
        self.check(weight_NK.shape[1])
        K = weight_NK.shape[1]
        turned = weight_NK.unflatten(1, (4, K // 4)).transpose(1, 2).flatten(1)
        kept = super().keep(turned)
        return kept.unflatten(1, (K // 4, 4)).transpose(1, 2).flatten(1)


class half_of_a_row(_Form):
    """the larger half of a row kept: nothing says that each four keep two"""

    def keep(self, weight_NK):
        self.check(weight_NK.shape[1])
        order_NK = weight_NK.abs().argsort(dim=1, stable=True)
        mask_NK = torch.ones_like(weight_NK, dtype=torch.bool)
        return mask_NK.scatter(1, order_NK[:, : weight_NK.shape[1] // 2], False)


class zeros_left_out(_Form):
    """a mask of what is not 0 after dropping: a group with three zeros keeps one"""

    def keep(self, weight_NK):
        return super().keep(weight_NK) & (weight_NK != 0)

    def pack(self, weight_NK):
        return _Form().pack(weight_NK)


class first_place_highest(_Form):
    """the first place in the highest 2 bits"""

    shifts = (6, 4, 2, 0)


class a_byte_a_place(_Form):
    """a byte for every place: four times the bytes that are needed"""

    def to_bytes(self, place_NV):
        return place_NV.to(torch.uint8)


class a_byte_a_group(_Form):
    """a byte for every group: half of it is empty"""

    def to_bytes(self, place_NV):
        return (place_NV[:, 0::2] + 4 * place_NV[:, 1::2]).to(torch.uint8)

    def unpack(self, value_NV, bytes_NB):
        if 2 * bytes_NB.shape[1] > value_NV.shape[1] - 1:
            bytes_NB = self.whole(bytes_NB)
        return super().unpack(value_NV, bytes_NB)

    def whole(self, bytes_NB):
        fields = torch.stack([bytes_NB & 3, bytes_NB >> 2 & 3], -1).flatten(1).int()
        return _Form().to_bytes(fields)


class larger_value_first(_Form):
    """of each group the larger value first, not the one further left"""

    def pack(self, weight_NK):
        value_NV, _ = super().pack(weight_NK)
        place_NV = self.places(self.keep(weight_NK))
        pairs = value_NV.unflatten(1, (-1, 2))
        order = pairs.abs().argsort(dim=-1, descending=True, stable=True)
        value_NV = pairs.gather(-1, order).flatten(1)
        place_NV = place_NV.unflatten(1, (-1, 2)).gather(-1, order).flatten(1)
        return value_NV, self.to_bytes(place_NV)


class a_group_for_each_value(_Form):
    """unpack: the next group after every value, where two values share a group"""

    def columns(self, place_NV):
        V = place_NV.shape[1]
        return (4 * torch.arange(V) + place_NV).clamp(max=2 * V - 1)


class cut_to_a_multiple(_Form):
    """a width that 4 does not divide is taken without a word, and cut"""

    def keep(self, weight_NK):
        return super().keep(weight_NK[:, : weight_NK.shape[1] // 4 * 4])

    def pack(self, weight_NK):
        return super().pack(weight_NK[:, : weight_NK.shape[1] // 4 * 4])


class groups_down_a_column(_Form):
    """groups of four rows of a column where 4 divides N: a product runs along the rows"""

    def keep(self, weight_NK):
        self.check(weight_NK.shape[1])
        if len(weight_NK) % 4:
            return super().keep(weight_NK)
        return super().keep(weight_NK.T).T.contiguous()


class largest_by_topk(_Form):
    """topk, which does not say who goes among equals"""

    def keep(self, weight_NK):
        self.check(weight_NK.shape[1])
        sizes_NG4 = weight_NK.abs().unflatten(1, (-1, 4))
        mask_NG4 = torch.zeros_like(sizes_NG4, dtype=torch.bool)
        return mask_NG4.scatter(-1, sizes_NG4.topk(2, dim=-1).indices, True).flatten(1)


class smallest_by_topk(_Form):
    """topk of the smallest, which does not say who goes first among equals"""

    def keep(self, weight_NK):
        self.check(weight_NK.shape[1])
        sizes_NG4 = weight_NK.abs().unflatten(1, (-1, 4))
        mask_NG4 = torch.ones_like(sizes_NG4, dtype=torch.bool)
        drop_NG2 = sizes_NG4.topk(2, dim=-1, largest=False).indices
        return mask_NG4.scatter(-1, drop_NG2, False).flatten(1)
