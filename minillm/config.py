"""What a model and an engine are made of, as plain frozen values. No torch here."""

from __future__ import annotations

from dataclasses import dataclass

# A config.json is somebody else's file. These limits keep a lying one from asking for a year of
# work or all memory before its weights are even opened; the largest open models stay far below.
LIMITS = {
    "vocab_size": 4_000_000,
    "width": 131_072,
    "mlp_width": 1_048_576,
    "num_layers": 512,
    "num_heads": 1024,
    "num_kv_heads": 1024,
    "head_size": 4096,
    "max_len": 1 << 27,
}
KV_DTYPES = ("auto", "fp64", "fp32", "bf16", "fp16", "int8")


class ConfigError(ValueError):
    """A configuration that cannot be run as written; the message names the field and what to do."""


@dataclass(frozen=True)
class RopeConfig:
    """Rotary position embedding (Su et al. 2021, RoFormer) and how it is stretched."""

    theta: float = 10_000.0  # base of the wavelengths
    kind: str = "default"  # default | linear | llama3 | yarn
    factor: float = 1.0  # how many times longer the context became
    original_len: int = 0  # context length of pre-training, tokens (llama3, yarn)
    low_freq_factor: float = 1.0  # llama3: wavelengths above original_len / this are stretched
    high_freq_factor: float = 4.0  # llama3: wavelengths below original_len / this stay
    beta_fast: float = 32.0  # yarn: rotations over original_len above which a pair stays
    beta_slow: float = 1.0  # yarn: rotations below which a pair is fully stretched
    attention_factor: float = 1.0  # yarn: multiplies cos and sin (the paper's temperature)
    truncate: bool = True  # yarn: round the borders of the ramp to whole pairs


@dataclass(frozen=True)
class ModelConfig:
    """One decoder-only transformer. Dimension letters follow the project's key (docs/names.md)."""

    family: str  # llama | mistral | qwen2 | qwen3 | gemma3
    vocab_size: int  # V
    width: int  # D, size of the residual stream
    mlp_width: int  # F
    num_layers: int
    num_heads: int  # H, query heads
    num_kv_heads: int  # G, key/value heads; each serves H / G query heads
    head_size: int  # K; not always width / num_heads
    max_len: int  # context the model was made for, tokens
    ropes: tuple[RopeConfig, ...] = (RopeConfig(),)
    rope_of_layer: tuple[int, ...] = ()  # index into ropes, one a layer; () means all 0
    windows: tuple[int | None, ...] = ()  # keys a query may see, itself included; None is all
    norm_eps: float = 1e-6
    tie_embeddings: bool = False  # the head is the embedding matrix
    qkv_bias: bool = False
    output_bias: bool = False  # bias of the attention's output projection
    mlp_bias: bool = False
    qk_norm: bool = False  # RMSNorm on every query and key head
    norm_plus_one: bool = False  # the norm multiplies by 1 + weight (Gemma)
    post_norms: bool = False  # four norms a block: also after attention and after the MLP
    embedding_scale: float = 1.0
    attention_scale: float = 0.0  # multiplies q.k; 0 means head_size ** -0.5
    activation: str = "silu"  # silu | gelu_tanh | gelu
    bos_token_id: int | None = None
    eos_token_ids: tuple[int, ...] = ()  # every one of them ends a text

    def __post_init__(self):
        set_ = object.__setattr__  # frozen: only here, to fill what was left to default
        for name, limit in LIMITS.items():
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= limit:
                raise ConfigError(f"{name} must be a whole number from 1 to {limit}, got {value!r}")
        if self.num_heads % self.num_kv_heads:
            raise ConfigError(
                f"num_heads ({self.num_heads}) must be a multiple of num_kv_heads "
                f"({self.num_kv_heads}): every key/value head serves the same number of queries"
            )
        if self.head_size % 2:
            raise ConfigError(f"head_size must be even for RoPE (pairs), got {self.head_size}")
        set_(self, "windows", self.windows or (None,) * self.num_layers)
        set_(self, "rope_of_layer", self.rope_of_layer or (0,) * self.num_layers)
        set_(self, "attention_scale", self.attention_scale or self.head_size**-0.5)
        for name in ("windows", "rope_of_layer"):
            if len(getattr(self, name)) != self.num_layers:
                raise ConfigError(f"{name} must have one entry a layer ({self.num_layers})")

    @property
    def queries_per_kv(self) -> int:
        """Query heads that share one key/value head (H / G)."""
        return self.num_heads // self.num_kv_heads

    def kv_bytes_per_token(self, bytes_per_number: float) -> float:
        """Bytes of K and V that one token leaves in the cache, over all layers."""
        return 2 * self.num_layers * self.num_kv_heads * self.head_size * bytes_per_number


@dataclass(frozen=True)
class EngineConfig:
    """How many requests share the model, and the memory they share. Names follow vLLM's."""

    block_size: int = 16  # tokens of K and V in one block
    num_blocks: int | None = None  # blocks of the pool; None: as many as memory_fraction allows
    max_num_seqs: int = 64  # requests that run at the same time ("seats")
    max_batch_tokens: int = 512  # new tokens computed in one step, over all requests
    max_model_len: int | None = None  # longest prompt and answer, tokens; None: the model's own
    memory_fraction: float = 0.9  # of the memory that is free now, for the pool (num_blocks=None)
    kv_dtype: str = "auto"  # auto (the model's) | fp64 | fp32 | bf16 | fp16 | int8
    prefix_caching: bool = True  # requests that begin alike share blocks
    policy: str = "continuous"  # refill seats at every step; "static": only when all are empty
    cuda_graphs: bool = False  # replay captured decode steps (GPU only)
    clock: object | None = None  # a VirtualClock to charge steps to; None: real time

    def __post_init__(self):
        whole = lambda x: type(x) is int and x >= 1
        for name in ("block_size", "max_num_seqs", "max_batch_tokens"):
            if not whole(getattr(self, name)):
                raise ConfigError(
                    f"{name} must be a whole number from 1, got {getattr(self, name)!r}"
                )
        for name in ("num_blocks", "max_model_len"):
            if getattr(self, name) is not None and not whole(getattr(self, name)):
                raise ConfigError(f"{name} must be None or at least 1, got {getattr(self, name)!r}")
        for name in ("prefix_caching", "cuda_graphs"):
            if type(getattr(self, name)) is not bool:
                raise ConfigError(f"{name} must be True or False, got {getattr(self, name)!r}")
        if self.clock is not None and not hasattr(self.clock, "charge"):
            raise ConfigError(f"clock must be None or a VirtualClock, got {self.clock!r}")
        number = type(self.memory_fraction) in (int, float)
        if not (number and 0 < self.memory_fraction <= 1):
            raise ConfigError(f"memory_fraction must be above 0, up to 1: {self.memory_fraction!r}")
        if self.policy not in ("continuous", "static"):
            raise ConfigError(f"policy must be continuous or static, got {self.policy!r}")
        if self.kv_dtype not in KV_DTYPES:
            raise ConfigError(f"kv_dtype must be one of {', '.join(KV_DTYPES)}: {self.kv_dtype!r}")
