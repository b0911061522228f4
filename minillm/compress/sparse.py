"""Sparse matrices in fewer bytes: 2:4 with its index bits, and any pattern with a bit mask.

2:4 is what NVIDIA's sparse tensor cores read (compute capability 8.0 and later, 16-bit values):
two values of every four, and two bits each that say where they stood. Everywhere else both forms
save bytes, not time: the matrix is written out again before every multiplication.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from minillm.model import Linear, _call

FORMS = ("dense", "csr", "bitmask", "2:4")


def sparse_bytes(rows: int, columns: int, sparsity: float, form: str, value_bytes: float) -> float:
    """Bytes of a matrix in a form, by counting; CSR with 4-byte indices."""
    kept = rows * columns * (1 - sparsity)
    if form == "dense":
        return rows * columns * value_bytes
    if form == "csr":  # a value and its column number each, and where every row begins
        return kept * (value_bytes + 4) + 4 * (rows + 1)
    if form == "bitmask":
        return kept * value_bytes + rows * -(-columns // 8)
    if form == "2:4":  # the share of zeros is fixed
        return rows * columns / 2 * value_bytes + rows * -(-columns // 8)
    raise ValueError(f"form must be one of {', '.join(FORMS)}, got {form!r}")


@dataclass(frozen=True)
class Packed24:
    """Two of every four weights."""

    values_NK2: Tensor  # [N, K / 2], the weights' dtype
    places: Tensor  # uint8 [N, ceil(K / 8)]: 4 bits a group, the even group in the low half
    columns: int  # K


def pack_24(weight_NK: Tensor) -> Packed24:
    """Keep two of every four neighbours. ValueError where K is no multiple of 4 or three are set.

    Where fewer than two are set, zeros are kept in the lowest free places.
    """
    rows, columns = weight_NK.shape
    if columns % 4:
        raise ValueError(f"2:4 needs a multiple of 4 columns, got {columns}")
    groups = weight_NK.reshape(rows, -1, 4)
    if (bad := ((groups != 0).sum(-1) > 2).nonzero()).numel():
        row, group = bad[0].tolist()
        raise ValueError(
            f"not 2:4: row {row} has more than two weights in columns {4 * group} to "
            f"{4 * group + 3}; prune with pattern='2:4' first"
        )
    order = (groups == 0).to(torch.uint8).argsort(dim=-1, stable=True)  # weights before zeros
    at = order[..., :2].sort(dim=-1).values
    values = groups.gather(-1, at).reshape(rows, -1).contiguous()
    nibble = (at[..., 0] | at[..., 1] << 2).to(torch.uint8)
    if nibble.shape[1] % 2:
        nibble = F.pad(nibble, (0, 1))
    return Packed24(values, nibble[:, 0::2] | nibble[:, 1::2] << 4, columns)


def unpack_24(packed: Packed24) -> Tensor:
    """-> the matrix [N, K] again."""
    rows, columns = packed.values_NK2.shape[0], packed.columns
    nibble = torch.stack((packed.places & 15, packed.places >> 4), dim=-1).view(rows, -1)
    nibble = nibble[:, : columns // 4].long()
    at = torch.stack((nibble & 3, nibble >> 2), dim=-1)
    values = packed.values_NK2.view(rows, -1, 2)
    dense = values.new_zeros(rows, columns // 4, 4)
    return dense.scatter_(-1, at, values).view(rows, columns)


@dataclass(frozen=True)
class PackedBits:
    """The weights that are not 0, row by row, and one bit a weight."""

    values: Tensor  # [how many], the weights' dtype
    bits: Tensor  # uint8 [N, ceil(K / 8)], the lowest bit first
    columns: int  # K


def pack_bits(weight_NK: Tensor) -> PackedBits:
    """Any pattern of zeros."""
    mask = weight_NK != 0
    padded = F.pad(mask, (0, -weight_NK.shape[1] % 8)).view(weight_NK.shape[0], -1, 8)
    powers = (1 << torch.arange(8, device=mask.device)).to(torch.uint8)
    bits = (padded * powers).sum(-1, dtype=torch.uint8)
    return PackedBits(weight_NK[mask], bits, weight_NK.shape[1])


def unpack_bits(packed: PackedBits) -> Tensor:
    """-> the matrix [N, K] again."""
    rows = packed.bits.shape[0]
    shifts = torch.arange(8, device=packed.bits.device, dtype=torch.uint8)
    mask = (packed.bits[..., None] >> shifts & 1).bool().view(rows, -1)[:, : packed.columns]
    dense = packed.values.new_zeros(rows, packed.columns)
    dense[mask] = packed.values
    return dense


class SparseLinear(nn.Module):
    """y = x W^T + b with W stored as "2:4" or "bitmask"; exact everywhere.

    On a GPU that has sparse tensor cores a 16-bit 2:4 layer multiplies in that form (torch keeps
    a copy in its own layout, made at the first call and counted in weight_bytes). Elsewhere W is
    written out at every call, in the place of nothing: fewer bytes, more time.
    """

    __call__ = _call

    def __init__(self, weight_NK: Tensor, form: str = "2:4", bias=None):
        super().__init__()
        assert form in ("2:4", "bitmask"), form
        self.form = form
        self.out_features, self.in_features = weight_NK.shape
        packed = pack_24(weight_NK) if form == "2:4" else pack_bits(weight_NK)
        is_24 = isinstance(packed, Packed24)
        self.register_buffer("values", packed.values_NK2 if is_24 else packed.values)
        self.register_buffer("places", packed.places if is_24 else packed.bits)
        self.register_parameter("bias", bias)
        self.on_card = None

    @property
    def num_packed(self) -> int:
        """Weights that this layer stands for."""
        return self.out_features * self.in_features

    def dense(self) -> Tensor:
        """The matrix, written out -> [N, K]; not kept."""
        if self.form == "2:4":
            return unpack_24(Packed24(self.values, self.places, self.in_features))
        return unpack_bits(PackedBits(self.values, self.places, self.in_features))

    def forward(self, x_TK: Tensor) -> Tensor:
        if self.form == "2:4" and why_not(x_TK, self.values) is None:
            if self.on_card is None:
                self.on_card = torch.sparse.to_sparse_semi_structured(self.dense())
            return F.linear(x_TK, self.on_card, self.bias)
        return F.linear(x_TK, self.dense().to(x_TK.dtype), self.bias)

    def _apply(self, fn, *args, **kwargs):  # .to(), .cuda(), .half()
        self.on_card = None
        return super()._apply(fn, *args, **kwargs)

    def weight_bytes(self) -> dict[str, int]:
        """Bytes really held, as {what: bytes}."""
        found = {self.form: self.values.nbytes, "places": self.places.nbytes}
        if self.on_card is not None:  # values and places again, in the layout of the card
            held = [t for t in vars(self.on_card).values() if isinstance(t, Tensor)]
            found["card layout"] = sum(t.nbytes for t in held)
        return found

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, {self.form}"


def why_not(x_TK: Tensor, values: Tensor) -> str | None:
    """Why torch's semi-structured product cannot run here, or None where it can."""
    if not x_TK.is_cuda:
        return "2:4 tensor cores are NVIDIA's: these tensors are not on a CUDA device"
    major, minor = torch.cuda.get_device_capability(x_TK.device)
    if major < 8:
        return f"2:4 needs compute capability 8.0 or later, this card has {major}.{minor}"
    if x_TK.dtype not in (torch.float16, torch.bfloat16) or values.dtype != x_TK.dtype:
        return f"2:4 needs 16-bit values and inputs, got {values.dtype} and {x_TK.dtype}"
    if values.shape[0] % 32 or values.shape[1] * 2 % 64:
        return f"2:4 needs 32 rows and 64 columns or multiples, got {tuple(values.shape)}"
    return None


@torch.no_grad()
def sparsify(model, form: str = "2:4"):
    """A model whose blocks' linear layers are stored in a sparse form; exact, fewer bytes.

    Raises ValueError naming the first layer that is not 2:4.
    """
    return _swap(model, lambda layer: SparseLinear(layer.weight, form, layer.bias), nn.Linear)


@torch.no_grad()
def densify(model):
    """The other way: dense matrices with zeros in them, as save() wants them."""

    def dense(layer: SparseLinear) -> Linear:
        new = Linear(layer.in_features, layer.out_features, bias=False, device="meta")
        new.weight, new.bias = nn.Parameter(layer.dense(), requires_grad=False), layer.bias
        return new

    return _swap(model, dense, SparseLinear)


def _swap(model, make, kind):
    from minillm.compress.quant import shallow

    new = shallow(model, model.config)
    for number, block in enumerate(model.layers):
        for name, layer in block.named_modules():
            if isinstance(layer, kind):
                parent, _, last = name.rpartition(".")
                try:
                    setattr(new.layers[number].get_submodule(parent), last, make(layer))
                except ValueError as error:
                    raise ValueError(f"layers.{number}.{name}: {error}") from None
    return new.requires_grad_(False).eval()
