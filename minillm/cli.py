"""The command line: one function a command. torch is imported late.

Every expected error becomes one line on stderr and exit code 2. Ctrl-C is 130, a closed pipe 141.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from minillm import cli_exit, cli_plan, cli_prune, cli_quantize
from minillm.cli_exit import UsageError
from minillm.load import NAMED

app = typer.Typer(
    add_completion=False, pretty_exceptions_enable=False, help="A small, real LLM inference engine."
)
Model = Annotated[
    str,
    typer.Option(help=f"{', '.join(NAMED)}, a folder, a .gguf file or a hub id (owner/name)"),
]
Dtype = Annotated[str, typer.Option(help="auto, fp64, fp32, bf16 or fp16; auto is fp32 on a CPU")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N")]
SUITES = ("decode", "serve", "quant", "quality", "prune", "story", "gpu")
Json = Annotated[bool, typer.Option("--json", help="print one JSON object instead of text")]


def _show_version(asked: bool) -> None:
    if asked:
        from importlib import metadata

        try:
            print(f"minillm {metadata.version('minillm-course')}")
        except metadata.PackageNotFoundError:
            print("minillm (not installed: run from its folder)")
        raise typer.Exit()


@app.callback()
def _every_command(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="print it and leave"),
    ] = False,
    debug: Annotated[bool, typer.Option(help="full tracebacks (also MINILLM_DEBUG=1)")] = False,
):
    if debug:
        os.environ["MINILLM_DEBUG"] = "1"


@app.command()
def doctor(as_json: Json = False):
    """What this machine is, how fast its memory is, and what will and will not work here."""
    from minillm import doctor as examiner

    facts = examiner.report()
    if as_json:
        _print_json(facts)
    else:
        _print_rich(examiner.render(facts))


@app.command()
def generate(
    model: Model = "tiny",
    prompt: Annotated[str | None, typer.Option(help="the text to go on with; - is stdin")] = None,
    file: Annotated[str | None, typer.Option(help="a file with the prompt; - is stdin")] = None,
    chat: Annotated[bool, typer.Option(help="the prompt is a user's turn: chat template")] = False,
    max_tokens: Annotated[int, typer.Option(help="tokens to write at most")] = 64,
    temperature: Annotated[float, typer.Option(help="0 is greedy, 1 the model's own")] = 0.0,
    top_k: Annotated[int, typer.Option(help="keep the k likeliest tokens; 0 keeps all")] = 0,
    top_p: Annotated[float, typer.Option(help="keep the likeliest with this probability")] = 1.0,
    min_p: Annotated[float, typer.Option(help="drop below this share of the likeliest")] = 0.0,
    repetition_penalty: Annotated[float, typer.Option(help="above 1 repeats less")] = 1.0,
    presence_penalty: Annotated[float, typer.Option(help="off every written token")] = 0.0,
    frequency_penalty: Annotated[float, typer.Option(help="off for each time written")] = 0.0,
    seed: Annotated[int | None, typer.Option(help="the same text every time")] = None,
    stop: Annotated[list[str], typer.Option(help="a text that ends it; may be repeated")] = [],  # noqa: B006
    stop_token_ids: Annotated[list[int], typer.Option(help="ends it; may be repeated")] = [],  # noqa: B006
    ignore_eos: Annotated[bool, typer.Option(help="go on after the end-of-text token")] = False,
    logprobs: Annotated[int | None, typer.Option(help="of so many tokens (--json)")] = None,
    prompt_logprobs: Annotated[int | None, typer.Option(help="the same, of the prompt")] = None,
    dtype: Dtype = "auto",
    device: Device = "auto",
    as_json: Json = False,
):
    """Continue a text; pieces appear as they are certain. Ctrl-C keeps what was written."""
    from minillm.cli_text import read_prompt, run_generate

    values = dict(locals())
    text = read_prompt(prompt, file)
    if not as_json and (logprobs is not None or prompt_logprobs is not None):
        raise UsageError("--logprobs and --prompt-logprobs are shown with --json only")
    from minillm.sampling import RANGES, SamplingParams

    names = {r[0] for r in RANGES} | {"stop", "stop_token_ids", "ignore_eos"}
    try:
        params = SamplingParams(**{k: v for k, v in values.items() if k in names})
    except ValueError as error:
        raise _named_like_flags(error) from None
    raise typer.Exit(run_generate(model, text, chat, params, dtype, device, as_json))


@app.command("eval")
def evaluate(
    model: Model = "tiny",
    file: Annotated[str | None, typer.Option(help="a text whose perplexity is wanted")] = None,
    window: Annotated[int | None, typer.Option(min=2, help="tokens read at once")] = None,
    stride: Annotated[int | None, typer.Option(min=1, help="tokens a window moves on by")] = None,
    tasks: Annotated[bool, typer.Option(help="exact answers to the default model's tasks")] = False,
    count: Annotated[int, typer.Option(min=1, max=5000, help="unseen items a task")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="which items")] = 0,
    dtype: Dtype = "auto",
    device: Device = "auto",
    as_json: Json = False,
):
    """Perplexity of a text (--file), or the tasks that the default model learned (--tasks)."""
    from minillm.cli_text import read_file, render_eval, run_eval

    if file is None and not tasks:
        raise UsageError("say what to judge: --file PATH (perplexity), --tasks, or both")
    text = None if file is None else read_file(file)
    result = run_eval(model, text, window, stride, tasks, count, seed, dtype, device)
    if as_json:
        _print_json(result)
    else:
        _print_rich(render_eval(result))


@app.command()
def bench(
    suite: Annotated[str, typer.Option(help=", ".join(SUITES))] = "decode",
    model: Annotated[
        list[str] | None,
        typer.Option(help="may be repeated; default: tiny, blank, and gemma3-270m if installed"),
    ] = None,
    pairs: Annotated[int, typer.Option(min=1, max=1000, help="runs of each engine")] = 15,
    fast: Annotated[bool, typer.Option("--fast", help="2 short pairs; no ratio claimed")] = False,
    peers: Annotated[bool, typer.Option(help="also transformers, llama.cpp")] = True,
    as_json: Annotated[
        str | None, typer.Option("--json", help="write the report there, - is stdout (no table)")
    ] = None,
    picture: Annotated[
        str | None, typer.Option(help="story: a PNG; default: beside --json")
    ] = None,
):
    """Tokens/s beside the bound and beside transformers; peak memory. Leave the machine alone."""
    if suite not in SUITES:
        raise typer.BadParameter(
            f"{suite!r} is not a suite: {', '.join(SUITES)}", param_hint="'--suite'"
        )
    if suite != "decode" and model:
        raise UsageError(f"--model: the {suite} suite has its own models")
    from minillm.bench_show import with_progress
    from minillm.cli_bench import check_picture, choose, draw_picture

    check_picture(suite, picture)
    if as_json not in (None, "-"):
        _check_report(Path(as_json).absolute())
    run, plan, render = choose(suite, model, pairs, peers, fast, as_json)
    report = with_progress(run, plan)
    if as_json == "-":
        _print_json(report)
    else:
        _print_rich(render(report))
        if as_json:
            _write_json(as_json, report)
    draw_picture(suite, report, picture, as_json)
    raise typer.Exit(130 if report["interrupted"] else int(report.get("failed", False)))


app.command()(cli_quantize.quantize)
app.command()(cli_prune.prune)
app.command()(cli_plan.plan)


def _named_like_flags(error: ValueError) -> Exception:
    """top_p must be ... -> --top-p must be ...: what the user typed."""
    name, _, rest = str(error).partition(" ")
    return UsageError(f"--{name.replace('_', '-')} {rest}")


def _check_report(path: Path) -> None:
    """Refuse a place for the report before minutes are spent on measuring."""
    if not path.parent.is_dir():
        raise UsageError(f"--json: the folder of {path} does not exist")
    if path.exists() and not path.is_file():
        raise UsageError(f"--json: {path} is not a file; - writes to stdout")


def _print_json(value) -> None:
    import json

    print(json.dumps(value, ensure_ascii=False, allow_nan=False), flush=True)


def _write_json(path: str, value) -> None:
    import json

    from minillm.files import new_file

    with new_file(Path(path)) as file:
        file.write(json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False).encode())


def _print_rich(renderable) -> None:
    """As wide as the terminal; in a pipe as wide as it needs, so that no column is cut."""
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else 160).print(renderable)


def run(argv: list[str] | None = None) -> int:
    """Run one command line -> exit code."""
    return cli_exit.run(app, sys.argv[1:] if argv is None else argv)


def main() -> None:
    """Entry point of the command `minillm`."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the caller, as services are started
            setattr(sys, name, open(os.devnull, mode))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a model may write any character, on any terminal
            stream.reconfigure(encoding="utf-8", errors="replace")
    sys.exit(run())
