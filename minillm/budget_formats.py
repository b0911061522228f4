"""Bytes of weights, keys and values in each format, as the engine stores them. No torch here."""

from __future__ import annotations

from dataclasses import dataclass

from minillm.clock import matrices, num_parameters
from minillm.config import ConfigError, ModelConfig

DENSE = {"fp32": 4, "fp16": 2, "bf16": 2}  # bytes a number
CODED = {"int8": 8, "int4": 4, "nf4": 4, "w8a8": 8}  # bits a code
GROUP = {"int4": 64, "nf4": 64}  # columns a scale serves by default; int8 and w8a8: a row
MAX_GROUP = 1 << 20


@dataclass(frozen=True)
class Format:
    """How the weights are kept. Raises ConfigError for what quantize() would refuse."""

    dtype: str = "bf16"  # of the linear layers: a name of DENSE or CODED
    group_size: int | None = None  # columns a scale serves; None: 64 (int4, nf4) or a row
    head: str | None = None  # int8 or int4: the output head is coded too; None: it stays in `base`
    base: str = "bf16"  # of what is not coded: embedding, head, norms, biases, scales

    def __post_init__(self):
        if self.dtype not in {**DENSE, **CODED}:
            raise ConfigError(
                f"dtype must be one of {', '.join([*DENSE, *CODED])}, got {self.dtype!r}"
            )
        if self.base not in DENSE:
            raise ConfigError(f"base_dtype must be one of {', '.join(DENSE)}, got {self.base!r}")
        if self.dtype in DENSE:  # one format for everything
            object.__setattr__(self, "base", self.dtype)
        if self.head not in (None, "int8", "int4"):
            raise ConfigError(f"head must be int8 or int4, got {self.head!r}")
        size, coded = self.group_size, self.dtype in ("int8", "int4", "nf4")
        if size is not None and not coded:
            raise ConfigError(f"group_size: {self.dtype} has no groups; leave it out")
        if size is not None and not (type(size) is int and 1 <= size <= MAX_GROUP):
            raise ConfigError(
                f"group_size must be a whole number from 1 to {MAX_GROUP}, got {size!r}"
            )

    @property
    def group(self) -> int | None:
        """Columns a scale serves; None is the whole row."""
        return self.group_size or GROUP.get(self.dtype)

    def flags(self, usual: str) -> tuple[str, ...]:
        """What asks `minillm plan` for this, on a device where `usual` is what is not coded."""
        found = [f"--dtype {self.dtype}"]
        found += [f"--group-size {self.group_size}"] if self.group_size else []
        found += [f"--head {self.head}"] if self.head else []
        if self.dtype in CODED and self.base != usual:
            found.append(f"--base-dtype {self.base}")
        return tuple(found)

    def __str__(self) -> str:
        words = self.dtype
        if self.dtype in CODED:
            words += f", {self.group} columns a scale" if self.group else ", one scale a row"
            words += f"; the rest {self.base}"
        return words + (f"; head {self.head}" if self.head else "")


@dataclass(frozen=True)
class Weights:
    """Bytes held, by part; `scales` counts those inside linear and head once more."""

    linear: int
    embedding: int
    head: int  # 0 for a tied head: it is the embedding
    other: int  # norms and biases
    scales: int
    read: int  # of them, what a decode step reads
    parameters: int

    @property
    def total(self) -> int:
        return self.linear + self.embedding + self.head + self.other


def matrix_bytes(out: int, in_: int, dtype: str, group: int | None, base: str) -> tuple[int, int]:
    """(bytes of the codes or numbers, bytes of the scales) of one matrix.

    Codes of 4 and 8 bits stand in words of 32 bits, row by row; nf4 and w8a8 keep scales in fp32.
    """
    if dtype in DENSE:
        return out * in_ * DENSE[dtype], 0
    row = in_ if dtype == "w8a8" else -(-in_ * CODED[dtype] // 32) * 4
    scale = 4 if dtype in ("nf4", "w8a8") else DENSE[base]
    return out * row, out * -(-in_ // (group or in_)) * scale


def weights_of(config: ModelConfig, form: Format) -> Weights:
    """Every matrix of the model in this format, to the byte."""
    *inside, head = matrices(config)
    pairs = [
        (m.count * codes, m.count * scales)
        for m in inside
        for codes, scales in [matrix_bytes(m.out, m.in_, form.dtype, form.group, form.base)]
    ]
    linear, scales = sum(c + s for c, s in pairs), sum(s for _, s in pairs)
    size = DENSE[form.base]
    embedding, own = config.vocab_size * config.width * size, 0
    if form.head is not None:
        coded = matrix_bytes(head.out, head.in_, form.head, GROUP.get(form.head), form.base)
        own, scales = sum(coded), scales + coded[1]
    elif not config.tie_embeddings:
        own = embedding
    matrix = sum(m.parameters for m in inside)
    tied = head.parameters * (1 if config.tie_embeddings else 2)
    other = (num_parameters(config) - matrix - tied) * size
    read = linear + other + (own or embedding)
    return Weights(linear, embedding, own, other, scales, read, num_parameters(config))


def weights_of_count(parameters: int, form: Format, width: int) -> Weights:
    """A bare number of weights, all of them in this format; width: columns of a row, about."""
    if form.dtype in DENSE:
        held, scales = parameters * DENSE[form.dtype], 0
    else:
        held = -(-parameters * CODED[form.dtype] // 8)
        scales = -(-parameters // (form.group or width))
        scales *= 4 if form.dtype in ("nf4", "w8a8") else DENSE[form.base]
    return Weights(held + scales, 0, 0, 0, scales, held + scales, parameters)


def kv_token_bytes(config: ModelConfig, kv_dtype: str, base: str) -> int:
    """K and V of one token over all layers, as the pool keeps them; int8 has fp32 scales.

    kv_dtype: auto (the format of the activations, `base`), fp32, fp16, bf16 or int8.
    """
    if kv_dtype == "int8":
        scales = 2 * config.num_layers * config.num_kv_heads * 4
        return int(config.kv_bytes_per_token(1)) + scales
    kind = base if kv_dtype == "auto" else kv_dtype
    if kind not in DENSE:
        raise ConfigError(f"kv_dtype must be auto, int8, {', '.join(DENSE)}, got {kv_dtype!r}")
    return int(config.kv_bytes_per_token(DENSE[kind]))


def kv_windowed_bytes(config: ModelConfig, context: int, token_bytes: int) -> int:
    """K and V of one request where a layer with a window forgets what lies outside of it."""
    layer = token_bytes // config.num_layers
    return layer * sum(min(context, window or context) for window in config.windows)


def activation_bytes(config: ModelConfig, rows: int, seats: int, base: str) -> int:
    """What a step holds beside weights and cache at its largest moment, about.

    That is in the MLP, the widest part of the usual models: gate and up, the activation, the
    product (4 F a row) beside the residual stream before and after, what attention added, and the
    norm (4 D). RoPE's tables are there all the time; and for each seat the scores of all tokens, in
    the model's format and once more in fp32 for sampling. Not counted: scratch space of attention.
    """
    c, size = config, DENSE[base]
    row = 4 * c.width + 4 * c.mlp_width + 2 * c.head_size * len(c.ropes)
    return rows * row * size + seats * c.vocab_size * (size + 4)
