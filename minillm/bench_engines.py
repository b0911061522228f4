"""The engines that a benchmark compares, behind one method: run(prompt, new tokens) -> Run."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

OURS, PEER = "minillm", "transformers"


@dataclass(frozen=True)
class Run:
    """One request, batch 1, greedy. Seconds from the call of `run`."""

    tokens: tuple[int, ...]  # the new ones
    first_s: float  # until the first new token: the prompt is read
    total_s: float  # until the last one

    @property
    def per_token_s(self) -> float:
        """Seconds a token while decoding: the first token belongs to the prompt."""
        return (self.total_s - self.first_s) / (len(self.tokens) - 1)


class Ours:
    """This project's engine: generate's own loop, in float32 on the CPU."""

    def __init__(self, folder: str | Path):
        from minillm.load import load

        self.model, self.tokenizer = load(folder, dtype="fp32", device="cpu")

    def run(self, prompt: Sequence[int], new_tokens: int) -> Run:
        """Write `new_tokens` tokens after `prompt`, whatever ends a text."""
        from minillm.generate import steps
        from minillm.sampling import SamplingParams

        start = time.perf_counter()
        params = SamplingParams(max_tokens=new_tokens, ignore_eos=True)
        tokens, times = [], []
        for step in steps(self.model, prompt, params):
            times.append(time.perf_counter() - start)
            tokens.append(step.token)
        return Run(tuple(tokens), times[0], times[-1])

    def bytes_per_token(self) -> int:
        """Bytes of weights that one decode step reads: all, but one row of an untied embedding."""
        table = {part: sum(kinds.values()) for part, kinds in self.model.weight_bytes().items()}
        if not self.model.config.tie_embeddings:
            row = self.model.config.width * self.model.embedding.weight.element_size()
            table["embedding"] = row
        return sum(table.values())


class Held(Ours):
    """The same with a model that is in memory already."""

    def __init__(self, model, tokenizer):
        self.model, self.tokenizer = model, tokenizer


class Peer:
    """transformers' generate as it comes: its default cache and attention, no compilation."""

    def __init__(self, folder: str | Path):
        import torch

        silence()
        from transformers import AutoModelForCausalLM

        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()

    def run(self, prompt: Sequence[int], new_tokens: int) -> Run:
        """As Ours.run. Times come from its streamer, which is handed every token at once."""
        import torch
        from transformers import GenerationConfig

        # No end token: it never stops, and pays for no processor that forbids stopping.
        settings = GenerationConfig(
            max_new_tokens=new_tokens, do_sample=False, use_cache=True, pad_token_id=0
        )
        self.model.generation_config = settings  # or its own ends and filters are merged in
        clock = _Clock()
        start = time.perf_counter()
        prompt_1T = torch.tensor([list(prompt)])
        with torch.inference_mode():
            out_1T = self.model.generate(
                prompt_1T, attention_mask=torch.ones_like(prompt_1T),
                generation_config=settings, streamer=clock,
            )  # fmt: skip
        tokens = tuple(out_1T[0, len(prompt) :].tolist())
        times = clock.times[1:]  # it is handed the prompt first
        assert len(tokens) == len(times) == new_tokens, (len(tokens), len(times), new_tokens)
        return Run(tokens, times[0] - start, times[-1] - start)


class _Clock:
    """A streamer that only looks at the clock."""

    def __init__(self):
        self.times = []

    def put(self, value) -> None:
        self.times.append(time.perf_counter())

    def end(self) -> None:
        pass


ENGINES = {OURS: Ours, PEER: Peer}


def silence() -> None:
    """Keep transformers from printing bars and advice between our lines."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # everything is in a local folder
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()


def model_folder(name: str, scratch: Path) -> Path:
    """The folder that all engines load: found, converted, or (blank) written into `scratch`.

    Raises LoadError where there is no such model.
    """
    from minillm import gguf_cache
    from minillm.load import HUB_ID, TINY, load

    if name == "blank":
        from minillm.save import save

        model, tokenizer = load("blank", dtype="fp32", device="cpu")
        save(model, tokenizer, scratch / "blank")
        return scratch / "blank"
    if name == "gemma3-270m" or name.lower().endswith(".gguf"):
        from minillm.gemma import gemma_file

        path = gemma_file() if name == "gemma3-270m" else Path(name)
        folder = gguf_cache.cache_folder() / "gguf"
        folder /= f"{gguf_cache.sha256(path)}-v{gguf_cache.VERSION}"
        if not folder.exists():
            gguf_cache.convert(path, folder)
        return folder
    if name == "tiny":
        return TINY
    if Path(name).is_dir() or not HUB_ID.fullmatch(name):
        return Path(name)
    from minillm.hub import fetch

    return fetch(name)
