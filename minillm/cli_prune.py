"""minillm prune: weights set to 0, or whole heads, channels and layers gone, in a new folder."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from minillm.cli_exit import UsageError
from minillm.cli_quantize import Replace, check_out, show_judgement
from minillm.load import NAMED

HALF = 0.5  # prune()'s own default
HEALTHY = 0.9  # share of next tokens that are still the same
Part = Annotated[
    str | None, typer.Option(help="how many remain: a number, or a share such as 0.75")
]


def prune(
    out: Annotated[str, typer.Option(help="the new folder")],
    model: Annotated[
        str, typer.Option(help=f"{', '.join(NAMED)}, a folder, a .gguf file or a hub id")
    ] = "tiny",
    method: Annotated[
        str | None,
        typer.Option(
            help="of single weights: magnitude, wanda or sparsegpt", show_default="magnitude"
        ),
    ] = None,
    sparsity: Annotated[
        float | None, typer.Option(help="share of weights set to 0", show_default="0.5")
    ] = None,
    pattern: Annotated[str | None, typer.Option(help="2:4 or 4:8: N of every M stay")] = None,
    heads: Part = None,
    kv_heads: Part = None,
    channels: Part = None,
    layers: Part = None,
    calibration: Annotated[
        str | None, typer.Option(help="a text of the kind the model will read")
    ] = None,
    dtype: Annotated[str, typer.Option(help="auto, fp32, bf16 or fp16")] = "auto",
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N")] = "auto",
    replace: Replace = False,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
):
    """Set weights to 0 (--sparsity, --pattern), or take whole parts out (--heads, --layers ...)."""
    from minillm.cli import _print_json, _print_rich
    from minillm.cli_text import _progress

    asked = {"heads": heads, "kv_heads": kv_heads, "channels": channels, "layers": layers}
    parts = {name: _amount(name, value) for name, value in asked.items() if value is not None}
    single = {"method": method, "sparsity": sparsity, "pattern": pattern}
    single = {name: value for name, value in single.items() if value is not None}
    if parts and single:
        raise UsageError(
            "either single weights (--method, --sparsity, --pattern) or whole parts (--heads, "
            "--kv-heads, --channels, --layers): run the command twice for both"
        )
    check_out(out, model, replace)
    with _progress("blocks") as track:
        result = run_prune(model, out, calibration, track, dtype, device, parts, single)
    if as_json:
        _print_json(result)
    else:
        _print_rich(render_prune(result))


def run_prune(name, out, calibration, track, dtype, device, parts: dict, single: dict) -> dict:
    """Load, prune or shrink, save -> plain values: sizes before and after, distance, seconds."""
    from minillm.cli_quantize import _read_calibration, _texts, judgement
    from minillm.cli_text import load_with_tokenizer
    from minillm.compress.prune import prune as zero
    from minillm.compress.prune import sparsity_of
    from minillm.compress.shrink import shrink
    from minillm.save import save

    text = None if calibration is None else _read_calibration(calibration)
    model, tokenizer = load_with_tokenizer(name, dtype, device)
    looks = bool(parts) or single.get("method", "magnitude") != "magnitude"
    if looks and text is None and name != "tiny" and not parts:
        raise UsageError(f"--method {single['method']} needs --calibration FILE")
    can = looks and (text is not None or name == "tiny")
    texts, judged = _texts(name, tokenizer, text, "gptq" if can else "rtn", model.config.max_len)
    began = time.perf_counter()
    if parts:
        new = shrink(model, calibration=texts, progress=track, **parts)
    else:
        new = zero(model, calibration=texts, progress=track, **single)
    seconds = time.perf_counter() - began
    save(new, tokenizer, out)
    zeros = sparsity_of(new)
    result = {"model": name, "folder": str(out), "seconds": seconds} | parts | single
    result |= {"before": _sizes(model), "after": _sizes(new)}
    result["zeros"] = sum(zeros.values()) / len(zeros)
    result["judged_by"] = "text" if texts else "weights"
    if judged:
        result |= judgement(model, new, judged, calibration)
    return result


def _sizes(model) -> dict[str, int]:
    from minillm.bench_prune_speed import CONTEXT, sizes

    found = sizes(model)
    return {
        "parameters": found["parameters"], "bytes": found["bytes"],
        f"FLOPs a token ({CONTEXT} before it)": int(found["flops"]),
        "K and V bytes a token": int(found["kv_bytes"]),
    }  # fmt: skip


def _amount(name: str, text: str):
    """ "6" -> 6 and "0.75" -> 0.75; what they may be is the model's business."""
    flag = f"--{name.replace('_', '-')}"
    try:
        return int(text) if text.strip().lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise UsageError(f"{flag}: a whole number, or a share such as 0.75; got {text!r}") from None


def render_prune(result: dict):
    """A run_prune result as a rich table."""
    from rich.table import Table
    from rich.text import Text

    what = f"{_done(result)}, {result['seconds']:.1f} s"
    table = Table(title=Text(f"{result['folder']}: {what}"), title_justify="left")
    for column in ("", "before", "after", "ratio"):
        table.add_column(column, justify="right" if column else "left")
    for part, before in result["before"].items():
        after = result["after"][part]
        table.add_row(part, f"{before:,}", f"{after:,}", f"{after / before:.3f}x")
    table.add_row("weights of the blocks that are 0", "", f"{result['zeros']:.1%}", "")
    if result["zeros"] > 0.1:
        table.add_row(
            "  kept as zeros in dense matrices: no byte is saved, no step is faster", "", "", ""
        )
    show_judgement(table, result)
    if "distance" in result and result["distance"]["top1"] < HEALTHY:
        table.add_row("  this model needs training: notebook 13", "", "", "")
    return table


def _done(result: dict) -> str:
    """What was done, with what was taken where nothing was said."""
    parts = [name for name in ("heads", "kv_heads", "channels", "layers") if name in result]
    if parts:
        kept = ", ".join(f"{name.replace('_', '-')} {result[name]}" for name in parts)
        return f"kept: {kept}; judged by {result['judged_by']}"
    method = result.get("method", "magnitude")
    if "pattern" in result:
        return f"{result['pattern']} of the weights kept, {method}"
    return f"{result.get('sparsity', HALF):.0%} of the weights set to 0, {method}"
