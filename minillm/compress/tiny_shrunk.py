"""Make minillm/assets/tiny_shrunk: the default model with 30% fewer parameters, trained again.

`python -m minillm.compress.tiny_shrunk` (minutes on two cores; the same command goes on after a
stop). Its record, quality before and after, lies beside it in tiny_shrunk.json.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import torch
from typer import Option

from minillm.bench import _circumstances
from minillm.clock import num_parameters
from minillm.compress import evaluate
from minillm.compress.calibrate import own_texts
from minillm.compress.recover import RecoverConfig, finetune
from minillm.compress.shrink import shrink
from minillm.load import SHRUNK, load
from minillm.save import save

REMAINS = dict(layers=5, heads=6, channels=416)  # of 6, 8 and 512
RECORD = SHRUNK.with_suffix(".json")
CARD = """\
# tiny-shrunk: tiny with {share:.0%} of its parameters

{layers} of 6 layers, {heads} of 8 query heads and {channels} of 512 MLP channels of `tiny` remain,
chosen on its own training text; then {steps:,} steps of {step_tokens:,} tokens with distillation
from `tiny` ({minutes:.1f} minutes, {threads} threads of {cpu}). Made by `{command}`.

| task | tiny | shrunk | and trained again |
|---|---|---|---|
{rows}

Greedy, exact, on {count} unseen items a task; the last row is perplexity a token of unseen tales.
Licence: Apache-2.0.
"""


def shares_of(config, share: float = 0.7) -> dict:
    """What remains of another model that is to keep `share` of its parameters, as tiny-shrunk does.

    (The scoreboard cuts to the same shares of every part instead: see scoreboard_shrunk.py. The two
    differ where the number of layers is no multiple of 6.)

    5 of 6 layers and 3 of 4 query heads, rounded to what there is, and as many channels (a
    multiple of 64 where there are that many) as make `share` of the parameters.
    """
    layers = max(1, int(config.num_layers * 5 / 6 + 0.5))
    heads = max(config.num_kv_heads, config.num_heads * 3 // 4)
    heads -= heads % config.num_kv_heads
    size = lambda channels: num_parameters(
        replace(
            config, num_layers=layers, num_heads=heads, mlp_width=channels,
            windows=config.windows[:layers], rope_of_layer=config.rope_of_layer[:layers],
        )
    )  # fmt: skip
    step = min(64, config.mlp_width)
    wanted, choices = share * num_parameters(config), range(step, config.mlp_width + 1, step)
    channels = min(choices, key=lambda c: abs(size(c) - wanted))
    return {"layers": layers, "heads": heads, "channels": channels}


def judge(model, tokenizer, count: int) -> dict:
    """-> {"tasks": {task: share right}, "mean": their mean, "tales": perplexity}."""
    tasks = evaluate.tasks(model, tokenizer, count)
    tales = evaluate.tale_perplexity(model, tokenizer, min(count, 200))
    return {"tasks": tasks, "mean": sum(tasks.values()) / len(tasks), "tales": tales}


def make(folder: Path, config: RecoverConfig, count: int, target: Path = SHRUNK) -> dict:
    """Shrink, train, save to `target` -> its record, also written beside it."""
    model, tokenizer = load("tiny", dtype="fp32", device="cpu")
    small = shrink(model, calibration=own_texts(tokenizer), **REMAINS)
    found = {"tiny": judge(model, tokenizer, count), "shrunk": judge(small, tokenizer, count)}
    again = finetune(small, tokenizer, teacher=model, config=config, folder=folder)
    save(again.half(), tokenizer, target)
    kept = load(str(target), dtype="fp32", device="cpu")[0]  # judged as others load it
    found["recovered"] = judge(kept, tokenizer, count)
    state = torch.load(folder / "checkpoint.pt", weights_only=True)
    record = {
        "remains": REMAINS, "share": small.num_parameters() / model.num_parameters(),
        "parameters": small.num_parameters(), "steps": state["step"],
        "tokens_per_step": config.tokens_per_step, "seconds": state["seconds"],
        "threads": state["threads"], "items_a_task": count, "judged": found,
        "command": " ".join(["python -m minillm.compress.tiny_shrunk", *sys.argv[1:]]).strip(),
    } | _circumstances()  # fmt: skip
    target.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (target / "README.md").write_text(card(record), encoding="utf-8")
    return record


def card(record: dict) -> str:
    """The model card of a record."""
    found = record["judged"]
    names = ("tiny", "shrunk", "recovered")
    line = lambda name, values: f"| {name} | " + " | ".join(f"{v:.3f}" for v in values) + " |"
    rows = [line(task, [found[n]["tasks"][task] for n in names]) for task in found["tiny"]["tasks"]]
    rows += [line("mean", [found[n]["mean"] for n in names])]
    rows += [line("tales", [found[n]["tales"] for n in names])]
    return CARD.format(
        share=record["share"], steps=record["steps"], step_tokens=record["tokens_per_step"],
        minutes=record["seconds"] / 60, threads=record["threads"],
        cpu=record["machine"]["cpu"], command=record["command"], rows="\n".join(rows),
        count=record["items_a_task"], **record["remains"],
    )  # fmt: skip


def main(
    out: Annotated[Path, Option(help="where the state of the run lives")] = Path("build/shrunk"),
    steps: Annotated[int, Option(min=1, help="of training")] = 800,
    tokens: Annotated[int, Option(min=256, help="tokens a step")] = 2048,
    count: Annotated[int, Option(min=1, max=5000, help="unseen items a task, to judge by")] = 1000,
    target: Annotated[Path, Option(help="the folder of the finished model")] = SHRUNK,
) -> None:
    """Shrink the default model by about 30%, train it again and write it with its record."""
    config = RecoverConfig(steps=steps, tokens_per_step=tokens)
    try:
        print(card(make(out, config, count, target)))
    except KeyboardInterrupt:
        raise SystemExit("\nstopped; the same command goes on from the last checkpoint") from None


if __name__ == "__main__":
    import typer

    typer.run(main)
