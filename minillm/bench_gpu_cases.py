"""What the gpu suite times: sizes of a real model, larger than any cache, and one decode step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F

from minillm.compress.packing import unpack
from minillm.kernel_cases import Case, matmul_case, norm_case, paged_case, rope_case, store_case
from minillm.quant_ops import plain_quant_matmul


@dataclass(frozen=True)
class Timed:
    """A case, the bytes it cannot avoid to move, and torch's own way to the same end."""

    case: Case
    bytes_moved: int
    rival_name: str = ""
    rival: Callable[[], object] | None = None


def timed_cases(device, small: bool = False) -> list[Callable[[], Timed]]:
    """Functions that make one case each: only one is in memory at a time. small: for tests."""
    dtype = device.dtypes()[-1] if device.capability >= 80 else torch.float16
    on, many = {"dtype": dtype, "device": device.name}, 8 if small else 16_384
    length, requests = (40, 2) if small else (4096, 16)
    return [
        partial(paged, requests, length, 8, 4, 128, on),
        partial(paged, requests, length, 4, 7, 128, on),
        partial(paged, requests, length, 8, 4, 128, on, int8=True),
        partial(paged, 1, length, 8, 4, 128, on),
        partial(store, many, 8, 128, on),
        partial(store, many, 8, 128, on, int8=True),
        partial(store, 16, 8, 128, on),
        partial(norm, many, 4096, on),
        partial(norm, 16, 4096, on),
        partial(rope, many, 40, 128, on),
        partial(rope, 16, 40, 128, on),
        *(partial(matmul, *case, on, small) for case in MATMULS),
        *[partial(matmul, 1, 4, 64, on, small, int4pack)] * (dtype == torch.bfloat16),
    ]


def paged(requests, length, kv_heads, group, size, on, int8=False) -> Timed:
    """Requests of one length: torch's rival then needs no mask, its best case (and no pages)."""
    name = f"{requests} x {length} tokens, {kv_heads * group}/{kv_heads} x {size}"
    name += ", int8" if int8 else ""
    case = paged_case(name, [length] * requests, kv_heads, group, size, 16, int8=int8, **on)
    numbers = 2 * requests * length * kv_heads * size
    scales = numbers // size * 4 if int8 else 0
    bytes_moved = numbers * case.args[1].element_size() + scales + 2 * case.args[0].nbytes
    q = torch.randn(requests, kv_heads * group, 1, size, device=on["device"]).to(on["dtype"])
    shape = (2, requests, kv_heads, length, size)
    k, v = torch.randn(shape, device=on["device"], dtype=on["dtype"])
    rival = partial(F.scaled_dot_product_attention, q, k, v, enable_gqa=True)
    return Timed(case, bytes_moved, "SDPA, K and V in one piece, 16 bit", rival)


def store(tokens, heads, size, on, int8=False) -> Timed:
    """Read once, written once."""
    name = f"{tokens} tokens x {heads} x {size}{', int8' if int8 else ''}"
    case = store_case(name, tokens, heads, size, int8=int8, padded=0, **on)
    k, v, slots, k_pool, v_pool = case.args[:5]
    numbers = 2 * tokens * heads * size
    moved = numbers * (k.element_size() + k_pool.element_size())
    if int8:
        return Timed(case, moved + numbers // size * 4)
    pools = torch.empty_like(k_pool), torch.empty_like(v_pool)

    def rival():
        pools[0].index_copy_(0, slots, k)
        pools[1].index_copy_(0, slots, v)

    return Timed(case, moved, "index_copy_", rival)


def norm(tokens, size, on) -> Timed:
    """Read once, written once."""
    case = norm_case(f"{tokens} x {size}", (tokens, size), **on)
    x, weight, eps, _ = case.args
    return Timed(case, 2 * x.nbytes, "F.rms_norm", partial(F.rms_norm, x, (size,), weight, eps))


def rope(tokens, heads, size, on) -> Timed:
    """Read once, written once; torch has no operator of its own, so the plain twin stands in."""
    from minillm.ops import plain_rope

    case = rope_case(f"{tokens} x {heads} x {size}", tokens, heads, size, **on)
    moved = 2 * case.args[0].numel() * case.args[0].element_size() + 2 * case.args[1].nbytes
    return Timed(case, moved, "plain PyTorch", partial(plain_rope, *case.args))


MATMULS = ((1, 4, 64), (7, 4, 64), (1, 8, None), (16, 4, 64), (128, 4, 64))  # rows, bits, group


def matmul(rows, bits, group, on, small=False, peer=None) -> Timed:
    """Words and scales read once; torch's way is the same matrix in 16 bits, or another's int4."""
    size = (64, 128) if small else (28_672, 8192)
    group = group or size[1]
    name = f"{rows} x {size}, int{bits}, {group} a scale"
    case = matmul_case(name, rows, size, bits, group, **on, spare=0)
    x, packed, scale = case.args[:3]
    moved = sum(t.numel() * t.element_size() for t in (x, packed, scale))
    moved += rows * size[0] * x.element_size()
    rival_name, rival = (peer or dense)(case, on)
    return Timed(case, moved, rival_name, rival)


def dense(case: Case, on):
    """The product with a 16-bit matrix of the same size."""
    weight = torch.randn(case.args[1].shape[0], case.args[0].shape[1], device=on["device"])
    return "F.linear, 16 bit", partial(F.linear, case.args[0].contiguous(), weight.to(on["dtype"]))


def int4pack(case: Case, on):
    """torch's packed int4 product, bfloat16 only. RuntimeError where it computes something else."""
    x, packed, scale, _, bits, group, _ = case.args
    codes = (unpack(packed, bits, x.shape[1]).to(torch.int32) + 8).to(torch.uint8)
    words = torch._convert_weight_to_int4pack(codes[:, 0::2] << 4 | codes[:, 1::2], 8)
    both = torch.stack((scale, torch.zeros_like(scale)), dim=-1).transpose(0, 1).contiguous()
    rival = partial(torch._weight_int4pack_mm, x.contiguous(), words, group, both)
    want = plain_quant_matmul(*case.args)
    if float((rival() - want).abs().max()) > 0.02 * float(want.abs().max()):
        raise RuntimeError("torch's int4 product gives other numbers: no comparison")
    return "_weight_int4pack_mm", rival


def engine_check(device, new_tokens: int = 64) -> dict:
    """`tiny` with and without recorded steps: same tokens? Tokens/s of both, one run each."""
    import time

    from minillm import LLM, EngineConfig, SamplingParams, load  # noqa: I001

    try:
        model, tokenizer = load("tiny", dtype="fp16", device=device.name)
        prompts = ["Once upon a time ", "add: 123+456=", "sort: 3 1 2 ->", "The cat "] * 4
        params = SamplingParams(max_tokens=new_tokens, ignore_eos=True)
        found = {}
        for name, recorded in (("plain", False), ("graphs", True)):
            config = EngineConfig(num_blocks=256, max_num_seqs=16, cuda_graphs=recorded)
            llm = LLM(model, tokenizer, config)
            llm.generate(prompts, params)  # compile and record
            start = time.perf_counter()
            found[name] = [c.tokens for c in llm.generate(prompts, params)]
            found[f"{name}_tokens_per_s"] = (
                new_tokens * len(prompts) / (time.perf_counter() - start)
            )
    except Exception as error:
        return {"fault": repr(error)[:500]}
    pairs = list(zip(found.pop("plain"), found.pop("graphs")))
    same = sum(a == b for a, b in pairs)
    return {"fault": None, "same_texts": same, "texts": len(pairs)} | found
