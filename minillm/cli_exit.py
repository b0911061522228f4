"""How a command ends: every expected error is one line on stderr and a code of its own."""

from __future__ import annotations

import contextlib
import errno
import os
import sys

import typer

from minillm.files import in_words

# typer once built on click and now holds its own copy: the classes are found through its own.
UsageError = typer.BadParameter.__bases__[0]
ClickException = UsageError.__bases__[0]


def run(app: typer.Typer, argv: list[str], name: str = "minillm") -> int:
    """Run one command line -> exit code. Never raises but for errors of ours, with --debug."""
    try:
        return _invoke(app, argv, name)
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except BrokenPipeError:
        _forget_stdout()
        return 141
    except SystemExit as end:  # how rich leaves when nobody reads its tables
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        return 141
    except Exception as error:
        if os.environ.get("MINILLM_DEBUG") == "1":
            raise
        code, line = _explain(error)
        with contextlib.suppress(OSError):  # a full stderr must not change the code
            print(f"{name}: {line}", file=sys.stderr)
        return code


def _invoke(app: typer.Typer, argv: list[str], name: str) -> int:
    """As typer's main(), which would turn a closed pipe and Ctrl-C into codes of its own."""
    command, code = typer.main.get_command(app), 0
    try:
        with command.make_context(name, list(argv) or ["--help"]) as context:
            command.invoke(context)
    except typer.Exit as end:
        code = end.exit_code
    sys.stdout.flush()
    return code


def _explain(error: Exception) -> tuple[int, str]:
    """(exit code, one line): 2 for what a user can mend, 1 for what should not happen."""
    if isinstance(error, ClickException):
        return 2, _one_line(error.format_message()) + _where_the_text_goes(error)
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        _forget_stdout()
        return 2, f"no space left on the disk: {_one_line(error.filename or error.strerror)}"
    if isinstance(error, MemoryError):
        return 2, "not enough memory: take a smaller model, or dtype bf16 (half of fp32)"
    if isinstance(error, RuntimeError) and "can't allocate memory" in str(error):
        return 2, "not enough memory: take a smaller model, or dtype bf16 (half of fp32)"
    if isinstance(error, OSError):
        return 2, _one_line(in_words(error))
    if isinstance(error, (ValueError, ArithmeticError)):
        return 2, _one_line(error)  # LoadError and ConfigError are ValueErrors
    kind = type(error).__name__
    advice = "for the traceback: --debug, or MINILLM_DEBUG=1"
    return 1, f"unexpected {kind}: {_one_line(error)} ({advice})"


def _where_the_text_goes(error) -> str:
    """Advice for `generate Once`, the first thing that one types; else nothing."""
    command = getattr(getattr(error, "ctx", None), "info_name", None)
    if command != "generate" or "unexpected extra argument" not in error.format_message():
        return ""
    return '; the text goes after --prompt, in quotes: --prompt "Once upon a time"'


def _one_line(value) -> str:
    return " ".join(str(value).split()) or type(value).__name__


def _forget_stdout() -> None:
    """Nobody reads stdout, or it is full: the interpreter must not try to flush it again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
