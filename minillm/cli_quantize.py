"""minillm quantize: a smaller model in a new folder, and what it cost."""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from minillm.cli_exit import UsageError
from minillm.cli_text import load_with_tokenizer, read_file
from minillm.load import NAMED

Replace = Annotated[bool, typer.Option("--replace", help="a model that is there already may go")]
TEXTS, LENGTH = 48, 256  # of calibration, cut from the file: at most so many, tokens each
OWN = 120  # items of the default model's training text, where it calibrates itself


def quantize(
    out: Annotated[str, typer.Option(help="the new folder")],
    model: Annotated[
        str, typer.Option(help=f"{', '.join(NAMED)}, a folder, a .gguf file or a hub id")
    ] = "tiny",
    scheme: Annotated[str, typer.Option(help="int8, int4 or w8a8")] = "int4",
    group_size: Annotated[
        int | None, typer.Option(min=1, max=1 << 20, help="columns a scale; int4: 64")
    ] = None,
    method: Annotated[str, typer.Option(help="rtn, gptq or awq")] = "rtn",
    calibration: Annotated[
        str | None, typer.Option(help="a text: gptq and awq learn from it, all are judged by it")
    ] = None,
    head: Annotated[str | None, typer.Option(help="int8 or int4: pack the head too")] = None,
    dtype: Annotated[str, typer.Option(help="auto, fp64, fp32, bf16 or fp16")] = "auto",
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N")] = "auto",
    replace: Replace = False,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
):
    """A smaller model in a new folder, which transformers and vLLM load too; what it cost."""
    from minillm.cli import _print_json, _print_rich
    from minillm.cli_text import _progress

    check_out(out, model, replace)
    options = {"scheme": scheme, "method": method, "head": head}
    if group_size is not None:
        options["group_size"] = group_size
    with _progress("blocks") as track:
        result = run_quantize(model, out, calibration, track, dtype, device, **options)
    if as_json:
        _print_json(result)
    else:
        _print_rich(render_quantize(result))


def run_quantize(name: str, out: str, calibration: str | None, track, dtype: str, device: str,
                 **options) -> dict:  # fmt: skip
    """Load, quantize, save -> plain values: bytes before and after, distance, seconds."""
    from minillm.compress.compare import bits_per_weight
    from minillm.compress.folder import NEAREST, check_scheme
    from minillm.compress.linear import SCHEMES, QuantLinear
    from minillm.compress.quant import quantize
    from minillm.save import save

    if options["scheme"] not in SCHEMES:  # names those that a folder can hold
        can = ", ".join(name for name in SCHEMES if name not in NEAREST)
        raise UsageError(f"--scheme must be one of {can}, got {options['scheme']!r}")
    check_scheme(options["scheme"], "--scheme")
    text = None if calibration is None else _read_calibration(calibration)
    model, tokenizer = load_with_tokenizer(name, dtype, device)
    _check_groups(model, options)
    texts, judged = _texts(name, tokenizer, text, options["method"], model.config.max_len)
    began = time.perf_counter()
    new = quantize(model, calibration=texts, progress=track, **options)
    seconds = time.perf_counter() - began
    save(new, tokenizer, out)
    result = {"model": name, "folder": str(out), "seconds": seconds} | options
    result.pop("group_size", None)  # what was asked for; a row may have been shorter
    packed = [layer for layer in new.modules() if isinstance(layer, QuantLinear)]
    result["columns_a_scale"] = sorted({layer.group for layer in packed})
    result |= {"before": _parts(model), "after": _parts(new)}
    result["bits_per_weight"] = bits_per_weight(new)
    if judged:
        result |= judgement(model, new, judged, calibration)
    return result


def judgement(model, new, judged: list, calibration: str | None) -> dict:
    """How far `new` is from `model`, and on which text: it depends on the text, too."""
    from minillm.compress.compare import distance

    text = {None: "the text it learned", "-": "standard input"}.get(calibration, calibration)
    return {"distance": asdict(distance(model, new, judged)), "distance_text": text}


def show_judgement(table, result: dict) -> None:
    """Two rows, where there was a text to judge by."""
    from rich.text import Text

    if far := result.get("distance"):
        where = Text(f"same next token, in {result['distance_text']}")
        table.add_row(where, "", f"{far['top1']:.2%}", f"of {far['tokens']:,}")
        table.add_row("KL divergence, nats a token", "", f"{far['kl']:.5f}", "")


def check_out(out: str, model: str, replace: bool) -> None:
    """Before minutes are spent: all that saving would refuse about the place.

    And what save() would allow: a model that is there goes only with --replace; the package's own
    models and the one that is read never.
    """
    from minillm.save import check_target

    if not out:
        raise UsageError("--out: give the name of a new folder")
    path = Path(out)
    if path.exists() and not path.is_dir():
        raise UsageError(f"--out: {path} is a file; name a new folder")
    parent = path.absolute().parent
    if not parent.is_dir():
        raise UsageError(f"--out: the folder {parent} does not exist")
    try:
        os.rmdir(tempfile.mkdtemp(prefix=".minillm.", dir=parent))  # as saving will begin
    except OSError:
        raise UsageError(f"--out: nothing can be written to the folder {parent}") from None
    check_target(path)
    if path.resolve().is_relative_to(Path(__file__).resolve().parent):
        raise UsageError(f"--out: {path} belongs to minillm itself; name a new folder")
    source = Path(model).expanduser()
    if path.is_dir() and source.is_dir() and path.samefile(source):
        raise UsageError(f"--out: {path} is the model that is read; name a new folder")
    if path.is_dir() and any(path.iterdir()) and not replace:
        raise UsageError(f"--out: {path} holds a model already; another name, or add --replace")


def _read_calibration(file: str) -> str:
    if file != "-" and not Path(file).is_file():
        there = "it is not a file" if file and Path(file).exists() else "there is none"
        raise UsageError(f"--calibration: give the name of a text file, not {file!r}: {there}")
    return read_file(file)


def _check_groups(model, options: dict) -> None:
    """A folder has no place for a row that ends inside a group: told before minutes are spent.

    Such a layer would be saved with one scale a row, and the figures shown would be another's.
    """
    from torch import nn

    from minillm.compress.quant import GROUP, _group

    body = _group(options["scheme"], options.get("group_size", GROUP))
    head = _group(options["head"], GROUP) if options["head"] else None
    for name, layer in model.named_modules():
        group = head if name == "head" else body
        if (
            isinstance(layer, nn.Linear)
            and group
            and layer.in_features % min(group, layer.in_features)
        ):
            raise UsageError(
                f"--group-size {group} does not divide the {layer.in_features} columns of {name}, "
                "so the folder could not hold it: take 32, 64 or 128"
            )


def _texts(name: str, tokenizer, text: str | None, method: str, limit: int):
    """-> (calibration texts or None, other texts to judge by)."""
    if text is not None:
        ids = tokenizer.encode(text)
        length = min(LENGTH, limit)
        pieces = [ids[i : i + length] for i in range(0, len(ids), length)]
        if len(pieces) < 2:
            raise UsageError(f"--calibration: {len(ids)} tokens are too few, give {2 * length}")
        judged = pieces[1::2][:TEXTS]  # every other piece: unseen by the calibration
        return (pieces[0::2][:TEXTS] if method != "rtn" else None), judged
    if name != "tiny":
        if method != "rtn":
            raise UsageError(f"--method {method} needs --calibration FILE, a text of its kind")
        return None, []
    from minillm.compress.calibrate import own_texts

    own = own_texts(tokenizer, OWN, limit)
    return (own[0::2] if method != "rtn" else None), own[1::2]


def _parts(model) -> dict[str, int]:
    return {part: sum(held.values()) for part, held in model.weight_bytes().items()}


def render_quantize(result: dict):
    """A run_quantize result as a rich table."""
    from rich.table import Table
    from rich.text import Text

    what = f"{result['scheme']} by {result['method']}, {result['seconds']:.1f} s"
    table = Table(title=Text(f"{result['folder']}: {what}"), title_justify="left")
    for column in ("part", "bytes before", "bytes after", "ratio"):
        table.add_column(column, justify="left" if column == "part" else "right")
    for part, before in result["before"].items():
        after = result["after"][part]
        ratio = f"{after / before:.3f}x" if before else ""
        table.add_row(part, f"{before:,}", f"{after:,}", ratio)
    table.add_row("bits per linear weight", "", f"{result['bits_per_weight']:.3f}", "")
    show_judgement(table, result)
    return table
