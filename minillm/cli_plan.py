"""minillm plan: the flags, from words to numbers, and the plan as a table or as JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from minillm.cli_exit import UsageError
from minillm.load import NAMED


def plan(
    model: Annotated[
        str | None,
        typer.Option(help=f"{', '.join(NAMED)}, llama-3-8b ..., a folder, a config.json, a hub id"),
    ] = None,
    params: Annotated[str | None, typer.Option(help="a number of weights: 70e9 or 70B")] = None,
    like: Annotated[str | None, typer.Option(help="--params: whose attention it has")] = None,
    gpu: Annotated[str | None, typer.Option(help="T4, L4, A100-80GB, H100, phone ...")] = None,
    memory: Annotated[str | None, typer.Option(help="of the device: 80GB or 80GiB")] = None,
    bandwidth: Annotated[str | None, typer.Option(help="bytes a second: 900GB")] = None,
    peak: Annotated[float | None, typer.Option(help="FLOP a second: 150e12")] = None,
    dtype: Annotated[
        str | None, typer.Option(help="fp32, fp16, bf16, int8, int4, nf4 or w8a8")
    ] = None,
    group_size: Annotated[int | None, typer.Option(help="columns a scale: 32, 64, 128")] = None,
    head: Annotated[str | None, typer.Option(help="int8 or int4: code the head too")] = None,
    base_dtype: Annotated[str | None, typer.Option(help="of what is not coded: 16 bit")] = None,
    kv_dtype: Annotated[str, typer.Option(help="auto, int8, fp16, bf16 or fp32")] = "auto",
    context: Annotated[int | None, typer.Option(help="tokens of a request, answer too")] = None,
    prompt: Annotated[int | None, typer.Option(help="of them, read and not written")] = None,
    requests: Annotated[int | None, typer.Option(help="at the same time; default: all")] = None,
    slack: Annotated[str | None, typer.Option(help="memory kept free: 10% or 8GB")] = None,
    price_per_hour: Annotated[float | None, typer.Option(help="of the device")] = None,
    api_price: Annotated[float | None, typer.Option(help="elsewhere, a million tokens")] = None,
    table: Annotated[
        bool, typer.Option("--table", help="all advice: the whole decision table")
    ] = False,
    measure: Annotated[
        bool, typer.Option("--measure", help="take this machine's speed (2 s) for the prediction")
    ] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="predict here, then run: bytes and tokens/s side by side"),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
):
    """Before you buy: does it fit, how many requests, how fast at best, and what does it cost."""
    asked = dict(locals())
    if check:
        if gpu or memory or params:
            raise UsageError("--check runs on this machine: leave --gpu, --memory, --params out")
        _check(model, as_json)
        return
    from minillm.budget import plan as make_plan
    from minillm.cli import _print_json, _print_rich
    from minillm.cli_plan_show import as_values, render

    made = make_plan(_question(asked))
    if as_json:
        _print_json(as_values(made))
    else:
        _print_rich(render(made, table))
    chosen = gpu is not None or memory is not None
    if chosen and not made.fits:
        raise UsageError(_does_not_fit(made))


def _question(asked: dict):
    """The flags -> a Question. Errors carry the names of the flags."""
    from minillm.budget import Question
    from minillm.budget_devices import read_slack
    from minillm.config import ConfigError

    try:
        model, device = _model(asked), _device(asked)
        slack = None if asked["slack"] is None else read_slack(asked["slack"], device.memory)
        names = ("kv_dtype", "context", "prompt", "requests", "price_per_hour", "api_price")
        options = {name: asked[name] for name in names}
        return Question(model, device, _format(asked, model, device), slack=slack, **options)
    except ConfigError as error:
        first, _, rest = str(error).partition(" ")
        if first.rstrip(":") in {*asked, "group_size"}:
            first = "--" + first.replace("_", "-")
        raise UsageError(f"{first} {rest}") from None


def _model(asked: dict):
    from minillm.budget_devices import read_count
    from minillm.budget_models import find_model, of_count

    if (asked["model"] is None) == (asked["params"] is None):
        raise UsageError("say what to plan for: --model NAME or --params 7e9, one of them")
    if asked["params"] is not None:
        return of_count(read_count(asked["params"], "params"), asked["like"])
    if asked["like"] is not None:
        raise UsageError("--like goes with --params: a model has its own attention")
    return find_model(asked["model"])


def _device(asked: dict):
    """A known GPU, a memory, or this machine; single figures replace those of the table."""
    from minillm.budget_devices import Gpu, find_gpu, read_bytes, this_machine

    if asked["measure"] and (asked["gpu"] or asked["memory"]):
        raise UsageError("--measure takes this machine's speed: leave --gpu and --memory out")
    if asked["gpu"] is not None:
        device = find_gpu(asked["gpu"])
    elif asked["memory"] is not None:
        device = Gpu("the given device", 0.0)
    elif asked["measure"]:
        from minillm.budget_check import measured_machine

        device = measured_machine()
    else:
        device = this_machine()
    for name in ("memory", "bandwidth"):
        if asked[name] is not None:
            device = replace(device, **{name: read_bytes(asked[name], name)})
    if asked["peak"] is not None:
        from minillm.config import ConfigError

        if not 1e6 <= asked["peak"] <= 1e18:  # false for NaN
            raise ConfigError(f"peak must be from 1e6 to 1e18 FLOP a second, got {asked['peak']}")
        device = replace(device, peak=asked["peak"], dtype="any")
    return device


def _format(asked: dict, model, device):
    """The asked format; by default what the engine takes on this device."""
    from minillm.budget_formats import DENSE, Format

    cpu = asked["gpu"] is None and asked["memory"] is None and device.capability is None
    usual = device.usual
    if asked["dtype"] is None and model.quantized:
        raise UsageError(
            f"the config.json of {model.name} says that its weights are coded: say how they are "
            "kept, such as --dtype int4 --group-size 64"
        )
    dtype = asked["dtype"] or ("fp32" if cpu and not model.count else usual)
    if asked["base_dtype"] is not None and dtype in DENSE and asked["base_dtype"] != dtype:
        raise UsageError(f"--base-dtype is for coded weights; with --dtype {dtype} all is {dtype}")
    if dtype == "bf16" and usual != dtype:
        raise UsageError(
            f"--dtype bf16: {device.name} has no bf16 arithmetic; take fp16 (same bytes)"
        )
    return Format(dtype, asked["group_size"], asked["head"], asked["base_dtype"] or usual)


def _does_not_fit(made) -> str:
    from minillm.cli_plan_show import number_of

    q = made.question
    name = f"{number_of(q.model.count)} weights" if q.model.count else q.model.name
    return (
        f"{name} in {q.format.dtype} does not fit {q.gpu.name}: {made.missing / 1e9:.2f} GB are "
        f"missing for one request of {q.context} tokens"
    )


def _check(model: str | None, as_json: bool) -> None:
    from minillm.budget_check import check, render_check
    from minillm.cli import _print_json, _print_rich

    found = check([model]) if model else check()
    if as_json:
        _print_json(found)
    else:
        _print_rich(render_check(found))
