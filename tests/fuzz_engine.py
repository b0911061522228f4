"""Random loads through small pools: python -m tests.fuzz_engine [--requests N] [--seed S].

Every request must write what it writes alone, `check` must hold after every step, and the pool
must be empty at the end. In float64, where a batch changes no token. In the pool of int8 K/V
"alone" is the same request in an engine of its own, since rounding is not what is asked here.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field, replace

import torch

from minillm.config import EngineConfig
from minillm.engine.llm import LLM
from minillm.generate import generate
from minillm.sampling import SamplingParams
from tests import zoo

FAMILIES = ("llama 5:1", "mistral window", "qwen3", "gemma3")
NUM_BLOCKS = 64
ROUND = 40  # requests of one engine, one after another through the same pool


class Letters:
    """A tokenizer of one letter a token, so that stop strings can be drawn."""

    special_ids = ()

    def decode(self, ids) -> str:
        return "".join(chr(256 + i) for i in ids)


@dataclass
class Totals:
    """What a run has seen."""

    requests: int = 0
    steps: int = 0
    preemptions: int = 0
    cached: int = 0  # prompt tokens found in the prefix cache
    reasons: Counter = field(default_factory=Counter)


def settings_of(rng: random.Random) -> EngineConfig:
    size = rng.choice((1, 1, 1, 2, 4))
    return EngineConfig(
        block_size=size, num_blocks=NUM_BLOCKS, max_num_seqs=rng.randint(1, 12),
        max_batch_tokens=rng.choice((1, 3, 8, 32, 128)), prefix_caching=rng.random() < 0.8,
        policy=rng.choice(("continuous",) * 4 + ("static",)),
        kv_dtype="int8" if rng.random() < 0.2 else "auto",
    )  # fmt: skip


def params_of(rng: random.Random) -> SamplingParams:
    """Greedy, drawn, filtered, penalised, ended by tokens or by text, in several samples."""
    letters = [chr(256 + t) for t in rng.sample(range(zoo.VOCAB), 8)]
    return SamplingParams(
        max_tokens=rng.randint(1, 16),
        temperature=rng.choice((0.0, 0.0, 0.7, 1.3)),
        top_k=rng.choice((0, 0, 5, 10**7)),
        top_p=rng.choice((1.0, 0.8)),
        min_p=rng.choice((0.0, 0.0, 0.05)),
        repetition_penalty=rng.choice((1.0, 1.0, 1.2)),
        presence_penalty=rng.choice((0.0, 0.0, 0.6)),
        seed=rng.randrange(1000),
        n=rng.choice((1,) * 8 + (2, 3)),
        stop=letters if rng.random() < 0.15 else (),
        stop_token_ids=tuple(rng.sample(range(zoo.VOCAB), rng.choice((0, 0, 20)))),
        ignore_eos=rng.random() < 0.5,
        logprobs=rng.choice((None,) * 9 + (2,)),
        prompt_logprobs=rng.choice((None,) * 9 + (1,)),
    )


def prompts_of(rng: random.Random, count: int):
    """Prompts of up to 26 tokens, most with one of three common beginnings."""
    token = lambda: rng.randrange(zoo.VOCAB)
    beginnings = [[token() for _ in range(rng.randint(4, 17))] for _ in range(3)]
    for _ in range(count):
        head = rng.choice(beginnings) if rng.random() < 0.7 else []
        yield head + [token() for _ in range(rng.randint(0 if head else 1, 9))]


def alone(model, config: EngineConfig, prompt, params: SamplingParams, nth: int) -> list[int]:
    """What sample `nth` of a request writes when nobody else is there, cut at a stop string."""
    one = replace(
        params, n=1, seed=params.seed + nth, stop=(), logprobs=None, prompt_logprobs=None
    )  # fmt: skip
    if config.kv_dtype == "int8":
        whole = EngineConfig(block_size=config.block_size, num_blocks=64, kv_dtype="int8")
        tokens = LLM(model, None, whole).generate([prompt], one)[0].tokens
    else:
        tokens = generate(model, prompt, one)
    stops = [at for at, t in enumerate(tokens) if chr(256 + t) in params.stop]
    return tokens[: stops[0] + 1] if stops else tokens


def run_round(model, rng: random.Random, totals: Totals, count: int) -> None:
    """`count` prompts, arriving between steps, some aborted; then compare."""
    config = settings_of(rng)
    llm, asked, done = LLM(model, Letters(), config), {}, {}
    if config.kv_dtype != "int8":
        llm.cache.kv.fill_(float("nan"))
    before = totals.requests

    def step() -> None:
        for event in llm.step():
            if event.completion:
                assert event.request.id not in done, "an answer was told twice"
                done[event.request.id] = event.completion
        llm.check()
        totals.steps += 1

    for prompt in prompts_of(rng, count):
        params = params_of(rng)
        if totals.requests - before >= count:
            break
        first = llm.add(prompt, params)
        totals.requests += params.n
        asked |= {first + nth: (prompt, params, nth) for nth in range(params.n)}
        for _ in range(rng.choice((0, 0, 0, 0, 1, 4))):
            step()
        if rng.random() < 0.05:
            victim = rng.choice(sorted(asked))
            ended = llm.abort(victim)
            done |= {} if ended is None else {victim: ended}
            llm.check()
    while llm.unfinished:
        step()
    assert llm.blocks.num_free == NUM_BLOCKS, "blocks are held by nobody"
    assert not llm.requests and not llm.runner.samplers and not llm.answers.times, "leaked"
    totals.preemptions += llm.metrics.preemptions
    totals.cached += llm.metrics.cached_tokens
    for number, (prompt, params, nth) in asked.items():
        answer = done[number]
        totals.reasons[answer.finish_reason] += 1
        want = alone(model, config, prompt, params, nth)
        got = answer.tokens
        if answer.finish_reason == "abort":
            want = want[: len(got)]
        assert got == want, f"request {number}: {got} is not {want}; {prompt}, {params}, {config}"
        if params.logprobs is not None:
            assert len(answer.logprobs) in (len(got), len(got) + 1), "logprobs of every token"
        if params.prompt_logprobs is not None and got:
            assert len(answer.prompt_logprobs) == len(prompt)


def run(requests: int, seed: int, progress=lambda done: None) -> Totals:
    """Serve that many random requests; AssertionError at the first fault."""
    models, totals, number = [zoo.random_model(name) for name in FAMILIES], Totals(), 0
    while totals.requests < requests:
        before = totals.requests
        rng = random.Random(f"{seed} {number}")
        try:
            count = min(ROUND, requests - before)
            run_round(models[number % len(models)], rng, totals, count)
        except Exception as error:
            raise AssertionError(f"seed {seed}, round {number}: {error}") from error
        progress(totals.requests - before)
        number += 1
    return totals


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    options = parser.parse_args()
    torch.set_num_threads(1)
    from tqdm import tqdm

    print(f"seed {options.seed}", flush=True)
    start = time.perf_counter()
    with tqdm(total=options.requests, unit="request", disable=None) as bar:
        totals = run(options.requests, options.seed, bar.update)
    seconds = time.perf_counter() - start
    print(
        f"seed {options.seed}: {totals.requests} requests, {totals.steps} steps, "
        f"{totals.preemptions} preemptions, {totals.cached} prompt tokens from the cache, "
        f"{dict(totals.reasons)}: no wrong token, no leaked block ({seconds:.0f} s)"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
