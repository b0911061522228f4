"""What the commands generate and eval do once their flags are read."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from minillm.files import MIB, read_text

MAX_INPUT = 64 * MIB  # bytes of a prompt or of a text to judge


def read_prompt(prompt: str | None, file: str | None) -> str:
    """The text that --prompt or --file name; - is stdin. ValueError with advice otherwise."""
    if (prompt is None) == (file is None):
        raise ValueError("give the prompt either as --prompt TEXT or as --file PATH (- is stdin)")
    if file is not None:
        return read_file(file)
    if prompt == "-":
        return read_file("-")
    try:
        prompt.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("--prompt is not UTF-8 text") from None
    return prompt


def read_file(path: str) -> str:
    """UTF-8 text of a file, or of stdin for "-"."""
    if path != "-":
        return read_text(Path(path), MAX_INPUT)
    data = sys.stdin.buffer.read(MAX_INPUT + 1)
    if len(data) > MAX_INPUT:
        raise ValueError(f"stdin is longer than {MAX_INPUT >> 20} MB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"stdin is not UTF-8 text: {error}") from None


class Answer:
    """What was written so far: whole at every moment, so that Ctrl-C loses nothing."""

    def __init__(self):
        self.tokens, self.pieces = [], []
        self.logprobs, self.prompt_logprobs = [], None
        self.finish_reason = "interrupted"
        self.times = []  # seconds since the prompt was handed over, one a step

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def timings(self) -> dict:
        """TTFT in seconds, and the speed of the tokens after the first; None if not measured."""
        first, last = (self.times[0], self.times[-1]) if self.times else (None, None)
        several = len(self.times) > 1 and last > first
        speed = (len(self.times) - 1) / (last - first) if several else None
        return {"ttft_s": first, "tokens_per_s": speed, "total_s": last}


def write_answer(model, tokenizer, ids: list[int], params, emit: Callable[[str], None]) -> Answer:
    """Generate; `emit` gets every piece of text as soon as it is final. Ctrl-C ends it early."""
    from minillm.generate import steps
    from minillm.tokenizer import StreamDecoder

    answer, decoder = Answer(), StreamDecoder(tokenizer, params.stop)
    start = time.perf_counter()

    def take(piece: str) -> None:
        if piece:
            answer.pieces.append(piece)
            emit(piece)

    try:
        for step in steps(model, ids, params):
            answer.times.append(time.perf_counter() - start)
            if step.prompt_logprobs is not None:
                answer.prompt_logprobs = step.prompt_logprobs
            if step.finish_reason == "stop":
                answer.finish_reason = "stop"
                break
            answer.tokens.append(step.token)
            answer.logprobs.append(step.logprobs)
            take(decoder.push(step.token))
            if decoder.stopped or step.finish_reason:
                answer.finish_reason = "stop" if decoder.stopped else step.finish_reason
                break
        take(decoder.finish())
    except KeyboardInterrupt:
        take(decoder.finish())
    return answer


def run_generate(name, text, chat, params, dtype, device, as_json) -> int:
    """Load, write, report -> exit code (130 after Ctrl-C)."""
    began = time.perf_counter()
    model, tokenizer = load_with_tokenizer(name, dtype, device)
    load_s = time.perf_counter() - began
    if chat:
        text = tokenizer.chat([{"role": "user", "content": text}])
    ids = tokenizer.encode(text)

    def emit(piece: str) -> None:
        if not as_json:
            sys.stdout.write(piece)
            sys.stdout.flush()

    answer = write_answer(model, tokenizer, ids, params, emit)
    timings = {"load_s": load_s} | answer.timings()
    if as_json:
        report = {"model": name, "prompt_tokens": len(ids), "text": answer.text}
        report |= {"tokens": answer.tokens, "finish_reason": answer.finish_reason}
        report |= _all_logprobs(answer, params, tokenizer) | {"timings": timings}
        print(json.dumps(report, ensure_ascii=False), flush=True)
    else:
        print(flush=True)
        if sys.stderr.isatty():
            print(_timing_line(answer, timings), file=sys.stderr)
    return 130 if answer.finish_reason == "interrupted" else 0


def load_with_tokenizer(name: str, dtype: str, device: str):
    """load(), refusing a model that cannot read text."""
    from minillm.load import load

    model, tokenizer = load(name, dtype, device)
    if tokenizer is None:
        raise ValueError(f"{name} has no tokenizer.json, so it can neither read nor write text")
    return model, tokenizer


def _timing_line(answer: Answer, timings: dict) -> str:
    line = (
        f"[{len(answer.tokens)} tokens, {answer.finish_reason}; loaded in {timings['load_s']:.2f} s"
    )
    if timings["ttft_s"] is not None:
        line += f", first token after {1e3 * timings['ttft_s']:.0f} ms"
    if timings["tokens_per_s"] is not None:
        line += f", then {timings['tokens_per_s']:.0f} tokens/s"
    return line + "]"


def _all_logprobs(answer: Answer, params, tokenizer) -> dict:
    """Log-probabilities in words, where they were asked for: a list of choices a token."""

    def words(found: dict[int, float] | None) -> list[dict] | None:
        if found is None:
            return None
        return [
            {"token": t, "text": tokenizer.decode([t], skip_special=False), "logprob": p}
            for t, p in found.items()
        ]

    result = {}
    if params.logprobs is not None:
        result["logprobs"] = [words(found) for found in answer.logprobs]
    if params.prompt_logprobs is not None:
        result["prompt_logprobs"] = [words(found) for found in answer.prompt_logprobs or []]
    return result


def run_eval(name, text, window, stride, tasks, count, seed, dtype, device) -> dict:
    """Judge a model -> plain values: perplexity of `text`, and accuracies of the tasks."""
    from minillm.compress import evaluate

    model, tokenizer = load_with_tokenizer(name, dtype, device)
    began, result = time.perf_counter(), {"model": name}
    if text is not None:
        if window is not None and window > model.config.max_len:
            raise ValueError(
                f"--window {window} is above the model's context of {model.config.max_len} tokens"
            )
        ids = tokenizer.encode(text)
        result["perplexity"] = evaluate.perplexity(model, ids, window, stride)
        result["tokens"] = len(ids)
    if tasks:
        with _progress() as track:
            result["tasks"] = evaluate.tasks(model, tokenizer, count, seed, track)
        result["tales_perplexity"] = evaluate.tale_perplexity(model, tokenizer, count, seed)
        result |= {"count": count, "seed": seed}
    return result | {"seconds": time.perf_counter() - began}


class _progress:
    """A bar on stderr, gone when it is done: `with _progress() as track: for x in track(xs)`."""

    def __init__(self, what: str = "tasks"):
        self.what, self.bar = what, None

    def __enter__(self):
        return self.track

    def track(self, items):
        """The items, one by one; the bar appears with the first call, so errors come before it."""
        from rich.console import Console
        from rich.progress import Progress

        if self.bar is None:
            self.bar = Progress(console=Console(stderr=True), transient=True)
            self.bar.start()
        return self.bar.track(items, description=self.what)

    def __exit__(self, *error):
        if self.bar is not None:
            self.bar.stop()


def render_eval(result: dict):
    """A run_eval result as a rich table."""
    from rich.table import Table
    from rich.text import Text

    title = Text(f"{result['model']}, {result['seconds']:.1f} s")
    table = Table(title=title, title_justify="left")
    for name in ("what", "items", "result"):
        table.add_column(name, justify="left" if name == "what" else "right")
    if "perplexity" in result:
        tokens = f"{result['tokens']} tokens"
        table.add_row("perplexity of the text", tokens, f"{result['perplexity']:.3f}")
    for task, share in result.get("tasks", {}).items():
        table.add_row(f"{task}: exact answers", str(result["count"]), f"{share:.1%}")
    if "tales_perplexity" in result:
        tales = f"{result['count']} tales"
        table.add_row("tales: perplexity per token", tales, f"{result['tales_perplexity']:.3f}")
    return table
