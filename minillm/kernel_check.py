"""Every kernel against its twin: in Triton's CPU interpreter, or on this machine's GPU.

    python -m minillm.kernel_check              in the interpreter: no GPU is needed
    python -m minillm.kernel_check --cuda       compiled, on the GPU

TRITON_INTERPRET is read when triton is imported, so this is a process of its own. The interpreter
gets bf16 wrong: there fp32 and fp16 only. It tries the tiles of two cards, capability 75 and 90.
"""

from __future__ import annotations

import argparse
import json
import os
import sys


def run(capabilities=(75, 90), device: str = "cpu", only: str = "") -> list[dict]:
    """Judge all small cases -> one line each: case, capability, error, allowed, right, fault."""
    from minillm.kernel_cases import small_cases

    lines = []
    for capability in capabilities:
        os.environ["MINILLM_CAPABILITY"] = str(capability)  # of the interpreter; see kernel_choice
        for case in small_cases(device):
            if only in str(case):
                lines.append({"case": str(case), "capability": capability} | _judge(case))
    return lines


def _judge(case) -> dict:
    from minillm.kernel_cases import judge, kernel_of

    try:
        found = judge(case, kernel_of(case))
    except Exception as error:  # a kernel that does not run is a finding; the others go on
        return {"error": None, "allowed": None, "right": False, "fault": repr(error)[:500]}
    error = found.error if found.error == found.error else None
    return {"error": error, "allowed": found.allowed, "right": found.right, "fault": None}


def _words(line: dict) -> str:
    mark, short = "ok " if line["right"] else "BAD", lambda x: "-" if x is None else f"{x:.1e}"
    how = f"error {short(line['error'])}, allowed {short(line['allowed'])}"
    return f"{mark} sm_{line['capability']} {line['case']}: {how} {line['fault'] or ''}".rstrip()


def main(argv: list[str]) -> int:
    """Print one line a case (--json: one JSON list) -> 0 if all are right."""
    parser = argparse.ArgumentParser(
        prog="python -m minillm.kernel_check", description=__doc__.splitlines()[0]
    )
    parser.add_argument("only", nargs="?", default="", help="cases with this in their name")
    parser.add_argument("--cuda", action="store_true", help="compiled, on this machine's GPU")
    parser.add_argument("--json", action="store_true", help="one JSON list")
    options = parser.parse_args(argv)
    device, only = "cuda" if options.cuda else "cpu", options.only
    if device == "cpu":
        os.environ["TRITON_INTERPRET"] = "1"
        lines = run(only=only)
    else:
        from minillm.kernel_choice import capability_of

        lines = run((capability_of("cuda"),), device, only)
    if options.json:
        print(json.dumps(lines))
    else:
        print(*map(_words, lines), sep="\n")
    return 0 if lines and all(line["right"] for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
