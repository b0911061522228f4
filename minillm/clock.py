"""The paper GPU: what a step costs, by counting, and a clock that charges it. No torch here.

A made-up device, so that speed can be predicted, compared and graded anywhere: the real engine
computes real tokens, and this clock charges each step

    seconds = max(bytes / bandwidth, FLOPs / peak) + launches * launch

which is the roofline (Williams, Waterman & Patterson 2009) plus the time to start work. It is
never printed as if it were a measured device.

What is counted (Kaplan et al. 2020, section 2.1, for the arithmetic):
- a matrix of `out` x `in` numbers, used by S rows: 2 * S * out * in FLOPs (a multiplication and an
  addition a weight), and all its bytes once, however many rows there are;
- attention, for each layer and each pair of a new token and a key that it sees: 4 * H * K FLOPs
  (2 * H * K for q.k, 2 * H * K for the weighted sum of v); bytes: K and V of all tokens seen are
  read, those of the new tokens are written;
- one launch a matrix and one a layer for attention.
What is left out: activations between matrices (against the weights their bytes are S/in + S/out,
a tenth for S = 200 and a width of 4,096), the norms and other small operations, taken as done
within their neighbours, and the row of the embedding that a token looks up.
"""

from __future__ import annotations

from dataclasses import dataclass

from minillm.config import ModelConfig


@dataclass(frozen=True)
class Device:
    """What the roofline needs to know of a device."""

    bandwidth: float  # bytes per second from its memory
    peak: float  # FLOP per second
    memory: float  # bytes
    launch: float  # seconds to start one operation

    @property
    def ridge(self) -> float:
        """FLOPs per byte at which arithmetic takes as long as moving bytes."""
        return self.peak / self.bandwidth


PAPER_GPU = Device(bandwidth=300e9, peak=60e12, memory=16e9, launch=10e-6)


@dataclass(frozen=True)
class Matrix:
    """`count` equal matrices of `out` x `in_` numbers, one in each layer (the head: one)."""

    name: str
    out: int
    in_: int
    count: int

    @property
    def parameters(self) -> int:
        """Numbers in all of them."""
        return self.out * self.in_ * self.count


@dataclass(frozen=True)
class Cost:
    """What one piece of work needs."""

    flops: float
    bytes: float  # moved from and to the device's memory
    launches: int

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.flops + other.flops, self.bytes + other.bytes, self.launches + other.launches
        )

    @property
    def intensity(self) -> float:
        """FLOPs per byte: below the device's ridge the bytes decide, above it the arithmetic."""
        return self.flops / self.bytes


@dataclass(frozen=True)
class StepCost:
    """One step of the model, in three parts, since they behave differently when rows grow."""

    linears: Cost  # the matrices inside the layers: bytes do not grow with rows
    attention: Cost  # K and V: each request has its own
    head: Cost  # the scores of the next token: one row a request

    @property
    def total(self) -> Cost:
        """All three together."""
        return self.linears + self.attention + self.head

    @property
    def flops(self) -> float:
        return self.total.flops

    @property
    def bytes(self) -> float:
        return self.total.bytes

    @property
    def launches(self) -> int:
        return self.total.launches


def matrices(config: ModelConfig) -> list[Matrix]:
    """The model as a list of matrices, in the order they are used.

    q, k, v are one matrix and gate, up another, as in minillm/model.py. A tied head is listed too:
    it is the embedding, and every step reads all of it.
    """
    c = config
    heads = c.num_heads * c.head_size
    kv = c.num_kv_heads * c.head_size
    return [
        Matrix("qkv", heads + 2 * kv, c.width, c.num_layers),
        Matrix("o", c.width, heads, c.num_layers),
        Matrix("gate_up", 2 * c.mlp_width, c.width, c.num_layers),
        Matrix("down", c.width, c.mlp_width, c.num_layers),
        Matrix("head", c.vocab_size, c.width, 1),
    ]


def matrix_cost(matrix: Matrix, rows: int, bytes_per_parameter: float) -> Cost:
    """`rows` rows through every copy of a matrix."""
    return Cost(
        flops=2 * rows * matrix.parameters,
        bytes=matrix.parameters * bytes_per_parameter,
        launches=matrix.count,
    )


def step_cost(
    config: ModelConfig,
    rows: int,
    context: int,
    weight_bytes_per_parameter: float,
    kv_bytes: float,
    requests: int | None = None,
) -> StepCost:
    """A step that computes `rows` new tokens, shared out evenly over `requests` requests.

    context: tokens of each request after the step, the new ones among them. kv_bytes: of one
    number of K or V. requests: default `rows`, each request writes one token (decode); 1 is one
    prompt, or a piece of it (prefill). Raises ValueError if the tokens cannot be shared out.
    """
    requests = rows if requests is None else requests
    if requests < 1 or rows % requests or rows // requests > context:
        raise ValueError(
            f"{rows} rows, {requests} requests, context {context}: every request needs the same "
            "number of new tokens, at least one, and they belong to its context"
        )
    batch = [(rows // requests, context)] * requests
    return batch_cost(config, batch, weight_bytes_per_parameter, kv_bytes)


def batch_cost(
    config: ModelConfig,
    batch: list[tuple[int, int]],
    weight_bytes_per_parameter: float,
    kv_bytes: float,
) -> StepCost:
    """The same for any batch: a list of (new tokens, context after the step), one a request."""
    rows = sum(new for new, _ in batch)
    *inside, head = matrices(config)
    linears = Cost(0, 0, 0)
    for matrix in inside:
        linears = linears + matrix_cost(matrix, rows, weight_bytes_per_parameter)
    attention = Cost(0, 0, 0)
    for window in set(config.windows):  # layers with the same window cost the same
        one, layers = attention_cost(config, batch, window, kv_bytes), config.windows.count(window)
        attention += Cost(one.flops * layers, one.bytes * layers, one.launches * layers)
    return StepCost(linears, attention, matrix_cost(head, len(batch), weight_bytes_per_parameter))


def attention_cost(
    config: ModelConfig, batch: list[tuple[int, int]], window: int | None, kv_bytes: float
) -> Cost:
    """Attention of one layer. window: keys a token may see, itself included; None is all."""
    pairs, moved = 0, 0
    for new, context in batch:
        old = context - new
        pairs += sum(seen(old + i + 1, window) for i in range(new))
        moved += seen(context, window and window + new - 1) + new  # tokens read, tokens written
    c = config
    kv_token = 2 * c.num_kv_heads * c.head_size * kv_bytes
    return Cost(4 * c.num_heads * c.head_size * pairs, moved * kv_token, 1)


def seen(tokens: int, window: int | None) -> int:
    """Of so many tokens up to and with itself, how many a token sees."""
    return tokens if window is None else min(tokens, window)


def step_seconds(cost: Cost | StepCost, device: Device = PAPER_GPU) -> float:
    """Time of a step by the roofline: the slower of moving and computing, and the launches.

    Optimistic: it takes moving and computing as perfectly overlapped over the whole step.
    """
    return max(cost.bytes / device.bandwidth, cost.flops / device.peak) + (
        cost.launches * device.launch
    )


def num_parameters(config: ModelConfig) -> int:
    """All numbers of the model, a tied head counted once: equals Transformer.num_parameters()."""
    c = config
    qkv, o, gate_up, down, head = matrices(c)
    weights = sum(m.parameters for m in (qkv, o, gate_up, down))
    weights += head.parameters * (1 if c.tie_embeddings else 2)
    layer = (4 if c.post_norms else 2) * c.width + (2 * c.head_size if c.qk_norm else 0)
    layer += qkv.out if c.qkv_bias else 0
    layer += o.out if c.output_bias else 0
    layer += gate_up.out + down.out if c.mlp_bias else 0
    return weights + layer * c.num_layers + c.width


def largest_batch(
    config: ModelConfig,
    context: int,
    weight_bytes_per_parameter: float,
    kv_bytes: float,
    memory: float = PAPER_GPU.memory,
) -> int:
    """Requests of `context` tokens that fit beside the weights; 0 if not even the weights do."""
    free = memory - num_parameters(config) * weight_bytes_per_parameter
    return max(0, int(free // (context * config.kv_bytes_per_token(kv_bytes))))


class VirtualClock:
    """Time on paper: it moves only when it is told to."""

    def __init__(self, device: Device = PAPER_GPU):
        self.device, self.now = device, 0.0  # seconds

    def advance(self, seconds: float) -> float:
        """Let time pass -> the new time. ValueError for a step back."""
        if not seconds >= 0:
            raise ValueError(f"time cannot move by {seconds} seconds")
        self.now += seconds
        return self.now

    def charge(self, cost: Cost | StepCost) -> float:
        """Let the time of one step pass -> its seconds."""
        seconds = step_seconds(cost, self.device)
        self.advance(seconds)
        return seconds
