"""From logits to the next token: greedy or drawn, one request at a time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Number

import torch
from torch import Tensor

GREEDY_BELOW = 1e-5  # a temperature below this divides by almost nothing: take the best token
MAX_LOGPROBS = 100


@dataclass(frozen=True)
class SamplingParams:
    """How one request is continued. Filters act in the order temperature, top_k, top_p, min_p."""

    max_tokens: int = 64  # tokens to write at most
    temperature: float = 0.0  # 0 is greedy; 1 is the model's own distribution
    top_k: int = 0  # keep the k likeliest tokens; 0 keeps all
    top_p: float = 1.0  # keep the smallest set of likeliest tokens with this probability
    min_p: float = 0.0  # drop tokens below this share of the likeliest one's probability
    repetition_penalty: float = 1.0  # divides positive logits of seen tokens
    presence_penalty: float = 0.0  # subtracted once from every token already written
    frequency_penalty: float = 0.0  # subtracted once for each time it was written
    seed: int | None = None  # None: another text every time
    n: int = 1  # independent continuations
    stop: str | Sequence[str] = ()  # texts that end the answer; not part of it
    stop_token_ids: Sequence[int] = ()  # tokens that end the answer, beside the model's own
    ignore_eos: bool = False  # go on after the end-of-text token
    logprobs: int | None = None  # log-probabilities of so many likeliest tokens
    prompt_logprobs: int | None = None  # the same for every token of the prompt

    def __post_init__(self):
        object.__setattr__(self, "stop", _as_tuple("stop", self.stop))
        object.__setattr__(self, "stop_token_ids", _as_tuple("stop_token_ids", self.stop_token_ids))
        whole = lambda x: isinstance(x, int) and not isinstance(x, bool)
        for name, low, high, must_be_whole in RANGES:
            value = _plain(getattr(self, name))
            object.__setattr__(self, name, value)
            if value is None and name in ("seed", "logprobs", "prompt_logprobs"):
                continue
            number = whole(value) or (isinstance(value, float) and not must_be_whole)
            if not number or not low <= value <= high:  # NaN compares false
                kind = "a whole number" if must_be_whole else "a number"
                raise ValueError(f"{name} must be {kind} from {low} to {high}, got {value!r}")
        for name in ("top_p", "repetition_penalty"):
            if getattr(self, name) == 0:
                raise ValueError(f"{name} must be above 0, got 0")
        if not all(isinstance(s, str) and s for s in self.stop):
            raise ValueError(f"stop must hold texts that are not empty, got {self.stop!r}")
        if not all(whole(t) and t >= 0 for t in self.stop_token_ids):
            raise ValueError(f"stop_token_ids must hold token ids, got {self.stop_token_ids!r}")
        if not isinstance(self.ignore_eos, bool):
            raise ValueError(f"ignore_eos must be True or False, got {self.ignore_eos!r}")

    @property
    def greedy(self) -> bool:
        return self.temperature < GREEDY_BELOW

    @property
    def plain(self) -> bool:
        """Greedy, and nothing depends on what was written before: the best logit is the token."""
        penalties = (self.repetition_penalty, self.presence_penalty, self.frequency_penalty)
        return self.greedy and penalties == (1.0, 0.0, 0.0)


RANGES = (  # name, lowest, highest, must it be whole
    ("max_tokens", 1, 1 << 30, True),
    ("temperature", 0, 100, False),
    ("top_k", 0, 1 << 62, True),
    ("top_p", 0, 1, False),
    ("min_p", 0, 1, False),
    ("repetition_penalty", 0, 100, False),
    ("presence_penalty", -100, 100, False),
    ("frequency_penalty", -100, 100, False),
    ("seed", 0, (1 << 63) - 1, True),
    ("n", 1, 1024, True),
    ("logprobs", 0, MAX_LOGPROBS, True),
    ("prompt_logprobs", 0, MAX_LOGPROBS, True),
)


def _as_tuple(name: str, value) -> tuple:
    if isinstance(value, str):
        return (value,)
    if value is None or isinstance(value, bytes) or not isinstance(value, Iterable):
        raise ValueError(f"{name} must be a list, got {value!r}")
    return tuple(_plain(v) for v in value)


def _plain(value):
    """A number of NumPy's as one of Python's; everything else as it is."""
    return value.item() if isinstance(value, Number) and hasattr(value, "item") else value


def filter_logits(logits_V: Tensor, params: SamplingParams) -> Tensor:
    """Temperature, top_k, top_p, min_p in that order -> logits with -inf for what is dropped.

    Always leaves at least the likeliest token. logits_V: at least float32.
    """
    if 0 < params.top_k < logits_V.shape[0]:  # the order is the same; the shift below rounds
        smallest = logits_V.topk(params.top_k).values[-1]
        logits_V = logits_V.masked_fill(logits_V < smallest, -torch.inf)
    logits_V = (logits_V - logits_V.max()) / params.temperature  # the shift: no overflow to inf
    if params.top_p < 1.0:
        ordered, order = logits_V.sort(descending=True, stable=True)
        probs = ordered.softmax(-1)
        before = probs.cumsum(-1) - probs  # mass of all likelier tokens
        dropped = before >= params.top_p
        dropped[0] = False
        logits_V = logits_V.masked_fill(dropped[order.argsort()], -torch.inf)
    if params.min_p > 0.0:
        border = logits_V.max() + math.log(params.min_p)
        logits_V = logits_V.masked_fill(logits_V < border, -torch.inf)
    return logits_V


class Sampler:
    """The state of one request's sampling: its own random generator and what it has written."""

    def __init__(self, params: SamplingParams, prompt: Sequence[int]):
        self.params = params
        self.generator = torch.Generator()
        if params.seed is None:
            self.generator.seed()
        else:
            self.generator.manual_seed(params.seed)
        self.prompt = set(prompt)
        self.written = Counter()
        self.plain = params.plain

    def pick(self, logits_V: Tensor) -> int:
        """Choose the next token from logits_V [V] and remember it."""
        if not self.plain:
            logits_V = torch.atleast_1d(logits_V.detach().cpu())
            if logits_V.dtype not in (torch.float32, torch.float64):
                logits_V = logits_V.float()
            logits_V = self._penalise(logits_V)
        value, best = largest(logits_V)
        if not math.isfinite(value):
            raise ArithmeticError(
                "the model's logits hold NaN or no finite value: the weights or activations "
                "overflow in this dtype; load the model with dtype='fp32'"
            )
        token = best if self.params.greedy else self._draw(logits_V)
        self.written[token] += 1
        return token

    def replay(self, tokens: Sequence[int]) -> None:
        """Go to where it stands after it has picked these tokens, one draw each."""
        for token in tokens:
            self.written[token] += 1
            if not self.params.greedy:
                self._uniform()

    def _uniform(self) -> Tensor:
        return torch.rand(1, generator=self.generator, dtype=torch.float64)

    def _draw(self, logits_V: Tensor) -> int:
        """Inverse of the cumulative distribution at one uniform number, in float64."""
        probs_V = filter_logits(logits_V, self.params).double().softmax(-1)
        steps_V = probs_V.cumsum(-1)
        u = self._uniform() * steps_V[-1]
        token = int(torch.searchsorted(steps_V, u, right=True))
        return min(token, int(probs_V.nonzero()[-1]))

    def _penalise(self, logits_V: Tensor) -> Tensor:
        p = self.params
        if p.repetition_penalty != 1.0:  # prompt and output (Keskar et al. 2019)
            seen = torch.tensor(sorted(self.prompt | self.written.keys()), dtype=torch.long)
            seen = seen[seen < logits_V.shape[0]]
            old = logits_V[seen]
            new = torch.where(old > 0, old / p.repetition_penalty, old * p.repetition_penalty)
            logits_V = logits_V.index_copy(0, seen, new)
        if self.written and (p.presence_penalty or p.frequency_penalty):  # output only
            tokens = torch.tensor(list(self.written), dtype=torch.long)
            counts = torch.tensor(list(self.written.values()), dtype=logits_V.dtype)
            cost = p.presence_penalty + p.frequency_penalty * counts
            logits_V = logits_V.index_add(0, tokens, -cost)
        return logits_V


def largest(logits_V: Tensor) -> tuple[float, int]:
    """The largest logit and its first place; NaN, if there is any.

    Of a large vocabulary the best row first: torch looks for values several numbers at a time, for
    places one by one.
    """
    if logits_V.shape[0] < 32768 or logits_V.shape[0] % 128 or not logits_V.is_cpu:
        value, best = logits_V.max(-1)
        return value.item(), best.item()
    rows_RC = logits_V.reshape(-1, 128)
    value, row = rows_RC.amax(1).max(-1)
    return value.item(), row.item() * 128 + rows_RC[row].argmax().item()


def top_logprobs(logits_V: Tensor, token: int, count: int) -> dict[int, float]:
    """Log-probabilities of `token` and of the `count` likeliest tokens, before any filter."""
    logprobs_V = logits_V.detach().double().log_softmax(-1)
    best = logprobs_V.topk(min(count, logprobs_V.shape[0])).indices.tolist() if count else []
    return {t: float(logprobs_V[t]) for t in dict.fromkeys([token, *best])}
