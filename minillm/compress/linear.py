"""QuantLinear: a linear layer whose weights are codes and scales, one copy in memory."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from minillm import quant_ops
from minillm.compress.formats import Coded, decode
from minillm.compress.layouts import choose
from minillm.compress.packing import pack, unpack
from minillm.model import _call

SCHEMES = {"int8": 8, "int4": 4, "nf4": 4, "w8a8": 8}  # name -> bits a code


class QuantLinear(nn.Module):
    """y = x W^T + b with W as `scheme`: "int8", "int4", "nf4" or "w8a8".

    Buffers, the portable form: `packed` int32 [N, words] (w8a8: int8 [N, K]), `scale` [N, G],
    `zero` int8 [N, G] or None. compute "exact" dequantises to the activations' dtype and multiplies
    (the oracle); "fast" takes torch's packed operations where they fit. They want a layout of
    their own: prepare() puts it in the place of the buffer, and everything that reads the buffers
    (state_dict, .to(), saving) puts the portable form back first, so there is never a second copy.
    """

    __call__ = _call

    def __init__(self, coded: Coded, scheme: str, bias=None, compute: str = "exact", outlier=None):
        super().__init__()
        assert scheme in SCHEMES and compute in ("exact", "fast"), (scheme, compute)
        self.scheme, self.bits, self.group = scheme, SCHEMES[scheme], coded.group
        self.out_features, self.in_features = coded.codes_NK.shape
        self.compute, self.outlier = compute, outlier
        codes = coded.codes_NK.contiguous()
        self.register_buffer("packed", codes if scheme == "w8a8" else pack(codes, self.bits))
        self.register_buffer("scale", coded.scale_NG)
        self.register_buffer("zero", coded.zero_NG)
        self.register_parameter("bias", bias)
        self.layout = None  # what the packed operation reads, in the place of `packed`
        self.register_state_dict_pre_hook(_restore_first)
        self.register_load_state_dict_pre_hook(_restore_first)

    def forward(self, x_TK: Tensor) -> Tensor:
        if self.compute == "fast" and self.fits(x_TK.device):
            if x_TK.requires_grad and torch.is_grad_enabled():
                raise RuntimeError(
                    'a packed product has no gradient: use torch.no_grad(), or compute="exact"'
                )
            out_TN = self.prepare().layout.multiply(x_TK)
        elif self.scheme == "w8a8":
            out_TN = quant_ops.w8a8_matmul(x_TK, self.codes(), self.scales(), self.outlier)
        elif self.compute == "fast":
            form = (self.packed, self.scale, self.zero, self.bits, self.group)
            out_TN = quant_ops.quant_matmul(x_TK, *form, self.scheme == "nf4")
        else:
            out_TN = F.linear(x_TK, self.dequantize(x_TK.dtype))
        return out_TN if self.bias is None else out_TN + self.bias

    @property
    def num_packed(self) -> int:
        """Weights that the codes stand for."""
        return self.out_features * self.in_features

    def codes(self) -> Tensor:
        """The codes, unpacked -> int8 [N, K]."""
        if self.layout is not None:
            return self.layout.codes()
        if self.scheme == "w8a8":
            return self.packed
        return unpack(self.packed, self.bits, self.in_features)

    def dequantize(self, dtype: torch.dtype | None = None) -> Tensor:
        """The matrix that the codes stand for -> [N, K]; not kept."""
        scale, nf4 = self.scales(), self.scheme == "nf4"
        return decode(self.codes(), scale, self.zero, self.group, nf4, dtype or scale.dtype)

    def scales(self) -> Tensor:
        """The scales -> [N, G], wherever they are."""
        return self.scale if self.scale.numel() else self.layout.scales().to(self.scale.dtype)

    def fits(self, device: torch.device) -> bool:
        """Whether a packed operation can do this layer on this device."""
        return self.layout is not None or self._layout_maker(device) is not None

    def _layout_maker(self, device: torch.device):
        size = (self.out_features, self.in_features, self.group)
        apart = self.scheme == "w8a8" and self.outlier is not None
        return None if apart else choose(self.scheme, *size, self.zero is not None, device)

    def prepare(self) -> QuantLinear:
        """Swap in the layout of the packed operation, if this layer is computed by one."""
        if self.layout is not None or self.compute != "fast":
            return self
        if make := self._layout_maker(self.packed.device):
            self.layout = make(self.codes(), self.scales(), self.zero, self.group)
            self.packed = self.packed.new_empty(0)
            if torch.equal(self.layout.scales().to(self.scale.dtype), self.scale):
                self.scale = self.scale.new_empty(0)  # the layout's scales say it all
        return self

    def restore(self) -> QuantLinear:
        """Put the portable form back."""
        if self.layout is not None:
            codes, scale, self.layout = self.codes(), self.scales(), None
            self.packed, self.scale = (
                codes if self.scheme == "w8a8" else pack(codes, self.bits),
                scale,
            )
        return self

    def __getstate__(self):
        """For copies and pickles: the portable form (a layout has no storage to copy), and for a
        shallow copy a dict of buffers of its own, so that one's layout does not empty the other."""
        state = dict(self.restore().__dict__)
        return state | {"_buffers": dict(self._buffers), "_parameters": dict(self._parameters)}

    def _apply(self, fn, *args, **kwargs):  # .to(), .cuda(), .half()
        self.restore()
        return super()._apply(fn, *args, **kwargs)

    def weight_bytes(self) -> dict[str, int]:
        """Bytes really held now, as {what: bytes}, the layout of a packed operation included."""
        found = {self.scheme: self.packed.nbytes, "scale": self.scale.nbytes}
        if self.zero is not None:
            found["zero"] = self.zero.nbytes
        if self.layout is not None:
            codes, scales = self.layout.nbytes()
            found[self.scheme] += codes
            found["scale"] += scales
        return found

    def extra_repr(self) -> str:
        size = f"in_features={self.in_features}, out_features={self.out_features}"
        return f"{size}, scheme={self.scheme}, group={self.group}, compute={self.compute}"


def _restore_first(module: QuantLinear, *_) -> None:
    module.restore()
