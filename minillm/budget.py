"""Will it fit, how fast can it be, what does it cost: a plan before anything is bought. No torch.

Bytes are counted as the engine allocates them, speed is the roofline of minillm/clock.py on the
device's figures. The memory of a device is

    weights + K/V blocks + slack,      slack: at least the activations of a step

which is the documents' rule (weights + cache + slack) with each term made exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from minillm.budget_devices import Gpu
from minillm.budget_formats import (
    Format,
    Weights,
    activation_bytes,
    kv_token_bytes,
    kv_windowed_bytes,
    weights_of,
    weights_of_count,
)
from minillm.budget_models import Model
from minillm.clock import Cost, batch_cost, step_seconds
from minillm.clock import Device as Roofline
from minillm.config import ConfigError, EngineConfig

DEFAULT_CONTEXT = 4096
LONGEST = 10_000_000  # tokens; no published model reads more
ENGINE = EngineConfig()  # whose defaults are ours
MOST_REQUESTS = 10**6
MOST_MONEY = 1e6


@dataclass(frozen=True)
class Question:
    """All that a plan depends on. Raises ConfigError, with advice, for what makes no sense."""

    model: Model
    gpu: Gpu
    format: Format = Format()
    kv_dtype: str = "auto"
    context: int | None = None  # tokens of one request, prompt and answer; None: 4,096 or less
    prompt: int | None = None  # of them; None: half
    requests: int | None = None  # at the same time; None: as many as fit
    slack: float | None = None  # bytes kept free; None: the device's share
    block_size: int = ENGINE.block_size  # tokens
    max_batch_tokens: int = (
        ENGINE.max_batch_tokens
    )  # new tokens of one step: long prompts are read in pieces
    price_per_hour: float | None = None  # of the device
    api_price: float | None = None  # of a million written tokens elsewhere

    def __post_init__(self):
        fill = lambda name, value: object.__setattr__(self, name, value)
        longest = LONGEST if self.model.count else min(LONGEST, self.model.config.max_len)
        if self.context is None:
            fill("context", min(DEFAULT_CONTEXT, longest))
        _whole("context", self.context, 2, LONGEST)
        if self.context > longest:
            raise ConfigError(
                f"context {self.context} is beyond the {longest} tokens that {self.model.name} "
                f"was made for: give at most {longest}"
            )
        if self.prompt is None:
            fill("prompt", self.context // 2)
        _whole("prompt", self.prompt, 1, self.context - 1)
        if self.requests is not None:
            _whole("requests", self.requests, 1, MOST_REQUESTS)
        if self.slack is None:
            fill("slack", self.gpu.slack * self.gpu.memory)
        for name in ("price_per_hour", "api_price"):
            price = getattr(self, name)
            if price is not None and not (price > 0 and price <= MOST_MONEY):  # false for NaN
                raise ConfigError(f"{name} must be above 0, up to {MOST_MONEY:.0f}, got {price}")
        if self.model.count and self.format.head:
            raise ConfigError("head: a bare number of weights has no known head; name a model")
        kv_token_bytes(self.model.config, self.kv_dtype, self.format.base)  # raises


def _whole(name: str, value, low: int, high: int) -> None:
    if type(value) is not int or not low <= value <= high:
        raise ConfigError(f"{name} must be a whole number from {low} to {high}, got {value!r}")


@dataclass(frozen=True)
class Speed:
    """Predicted by the roofline; a bound, since no program reaches all of it."""

    batch: int  # requests at once
    one_user: float  # tokens/s of a request that is alone
    decode: float  # tokens/s of the batch while all of it writes
    sustained: float | None  # written tokens/s, the reading of prompts counted; None: no peak
    ttft: float | None  # seconds until the first token of a lone request; None: no peak known
    bound: str  # what the batch's step waits for: bytes | arithmetic
    launches: int  # operations that a step must start


@dataclass(frozen=True)
class Money:
    """What written tokens cost at full load, and when somebody else's are cheaper."""

    per_million: float
    busy: float | None  # share of the hours that must be busy to be as cheap as the API
    tokens_an_hour: float | None  # written tokens an hour at which both cost the same


@dataclass(frozen=True)
class Plan:
    """The answer. Bytes unless said otherwise."""

    question: Question
    weights: Weights
    kv_token: int
    kv_block: int
    kv_request: int  # whole blocks of one request of `context` tokens
    kv_request_windowed: int | None  # if layers with a window forgot the rest; None: no windows
    activations: int
    slack: float  # what is really kept free
    room: float  # for K/V; negative: the weights do not even fit
    blocks: int  # of the pool
    largest: int  # requests of `context` tokens that fit at once
    speed: Speed | None = None  # None: the device's bandwidth is not known
    money: Money | None = None
    would_fit: tuple[str, ...] = ()  # flags of `minillm plan`, or words

    @property
    def missing(self) -> float:
        """Bytes that are lacking for one request of `context` tokens; 0: it fits."""
        return max(0.0, self.kv_request - self.room)

    @property
    def fits(self) -> bool:
        return self.largest >= 1


def plan(question: Question) -> Plan:
    """Bytes, seats, speed and cost; for what does not fit, what would."""
    made = bare_plan(question)
    if made.fits and question.gpu.bandwidth:
        speed = predict(question, made.weights, made.kv_token, made.largest)
        money = cost_of(question, speed) if question.price_per_hour else None
        made = replace(made, speed=speed, money=money)
    return made if made.fits else replace(made, would_fit=tuple(smaller(question)))


def bare_plan(question: Question) -> Plan:
    """The bytes alone."""
    q, c = question, question.model.config
    if q.model.count:
        weights = weights_of_count(q.model.count, q.format, c.width)
    else:
        weights = weights_of(c, q.format)
    token = kv_token_bytes(c, q.kv_dtype, q.format.base)
    block = token * q.block_size
    a_request = -(-q.context // q.block_size)
    seats = min(q.requests or ENGINE.max_num_seqs, q.max_batch_tokens)
    held = activation_bytes(c, q.max_batch_tokens, seats, q.format.base)
    slack = max(q.slack, held)
    room = q.gpu.memory - slack - weights.total
    blocks = max(0, int(room // block))
    windowed = kv_windowed_bytes(c, q.context, token) if any(c.windows) else None
    return Plan(q, weights, token, block, a_request * block, windowed, held, slack, room, blocks,
                blocks // a_request)  # fmt: skip


def step_cost(question: Question, weights: Weights, token: int, new: int, context: int,
              requests: int = 1) -> Cost:  # fmt: skip
    """A step of `requests` requests, each with `new` tokens of its `context` after the step.

    The counts are the clock's; the bytes of weights are those that this format really reads.
    """
    c = question.model.config
    number = token / c.kv_bytes_per_token(1)  # bytes of one K or V, scales shared out
    one = batch_cost(c, [(new, context)], 0, number)  # weights of 0 bytes: they come below
    flops = one.flops
    if question.model.count:  # of the likeness only the attention counts
        flops = one.attention.flops + 2 * new * weights.parameters
    return Cost(requests * flops, requests * one.bytes + weights.read, one.launches)


def predict(question: Question, weights: Weights, token: int, largest: int) -> Speed:
    """Tokens/s and time to the first token, all requests at their full length."""
    q, gpu = question, question.gpu
    batch = min(q.requests or largest, largest)
    peak = gpu.peak if suits(q) else None
    device = Roofline(gpu.bandwidth, peak or math.inf, gpu.memory, gpu.launch)
    cost = lambda *sizes: step_cost(q, weights, token, *sizes)
    alone = step_seconds(cost(1, q.context), device)
    full = cost(1, q.context, batch)
    together = step_seconds(full, device)
    ttft = sustained = None
    if peak:
        ends = [*range(q.max_batch_tokens, q.prompt, q.max_batch_tokens), q.prompt]
        pieces = zip([0, *ends], ends)
        ttft = sum(step_seconds(cost(end - start, end), device) for start, end in pieces)
        written = q.context - q.prompt
        sustained = batch * written / (batch * ttft + written * together)
    waits = "arithmetic" if full.flops / device.peak > full.bytes / gpu.bandwidth else "bytes"
    return Speed(batch, 1 / alone, batch / together, sustained, ttft, waits, full.launches)


def suits(question: Question) -> bool:
    """Whether the device's peak is that of the format in which this plan multiplies."""
    kind = "fp32" if question.format.base == "fp32" else "16 bit"
    return question.gpu.dtype in (kind, "any")


def cost_of(question: Question, speed: Speed) -> Money:
    """Price of a million written tokens: what an hour costs, by what an hour writes."""
    an_hour = 3600 * (speed.sustained or speed.decode)
    per_million = question.price_per_hour / an_hour * 1e6
    if question.api_price is None:
        return Money(per_million, None, None)
    even = question.price_per_hour / question.api_price * 1e6
    return Money(per_million, per_million / question.api_price, even)


def smaller(question: Question) -> list[str]:
    """Changes that make room for one request at least, as flags, the mildest first.

    One that only adds to another that fits already is left out.
    """
    q, found = question, {}
    now, base = bare_plan(q), q.gpu.usual
    tried = [(q.format, "int8"), (Format(base), q.kv_dtype)]
    tried += [(Format("int8", base=base), q.kv_dtype)]
    for head in (None,) if q.model.count else (None, "int4"):
        form = Format("int4", 128, head, base)
        tried += [(form, q.kv_dtype), (form, "int8")]
    for form, kv_dtype in tried:
        made = bare_plan(replace(q, format=form, kv_dtype=kv_dtype))
        less = (made.weights.total, made.kv_token) < (now.weights.total, now.kv_token)
        flags = form.flags(base) + ((f"--kv-dtype {kv_dtype}",) if kv_dtype != "auto" else ())
        if made.fits and less and not any(known <= set(flags) for known in found):
            weights = f"{made.weights.total / 1e9:.2f} GB of weights"
            found[frozenset(flags)] = f"{' '.join(flags)} ({weights})"
    short = now.blocks * q.block_size
    shorter = [f"--context {short}"] if 2 <= short < q.context else []
    return [*found.values(), *shorter] or ["a device with more memory, or a smaller model"]
