"""Refuses kernel code that leaves Triton's language: the interpreter would run it, no GPU could.

The interpreter keeps a block of numbers as a NumPy array, and a kernel is plain Python there. So
x.handle.data, NumPy and plain Python functions work inside a kernel, although none of them exists
on a GPU.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator

from exercises.grading import kernels

# What the compiler cannot translate. A list becomes a tuple there, which cannot grow.
NOT_COMPILED = {
    ast.Dict: "a dict", ast.Set: "a set", ast.DictComp: "a dict", ast.SetComp: "a set",
    ast.GeneratorExp: "a generator", ast.Lambda: "lambda", ast.Try: "try", ast.Break: "break",
    ast.Continue: "continue", ast.NamedExpr: ":=", ast.Delete: "del", ast.Yield: "yield",
}  # fmt: skip
GROWING = ("append", "extend", "insert", "pop", "remove", "clear")
ONLY = (
    "A kernel has Triton's language only: tl.load, tl.store, functions of tl, and + - * / on blocks"
)
HANDLE = "the NumPy array behind a block of numbers"


def check(source: str, path: str, refuse: Callable) -> None:
    """Look at the kernels of an answer's text, and keep watch while they run.

    refuse(words) is called, and raises, for the first thing that no GPU has.
    """
    for line, name, what in foreign(ast.parse(source)):
        refuse(f"line {line}: kernel {name} uses {what}. {ONLY}")
    _watch(path, refuse)


def foreign(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """(line, kernel, words) of all that is not Triton inside functions with @triton.jit."""
    modules = {"np"} | _imported(tree)  # the interpreter leaves its own np among our globals
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    plain = {n.name for n in functions if not _is_kernel(n)}
    for kernel in filter(_is_kernel, functions):
        nodes = [node for statement in kernel.body for node in ast.walk(statement)]
        own = {a.arg for a in ast.walk(kernel) if isinstance(a, ast.arg)}
        own |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for node in nodes:
            what = _what(node, modules - own, plain - own)
            if what:
                yield node.lineno, kernel.name, what


def _what(node: ast.AST, modules: set[str], plain: set[str]) -> str:
    if isinstance(node, ast.Attribute) and node.attr == "handle":
        return f"{ast.unparse(node)}, {HANDLE} in the interpreter"
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return f"`{ast.unparse(node)}`"
    if type(node) in NOT_COMPILED:
        return f"{NOT_COMPILED[type(node)]}, which Triton cannot compile"
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Attribute) and called.attr in GROWING:
        return f"{ast.unparse(called)}(): Triton makes a tuple of a list, and a tuple cannot change"
    if isinstance(node, ast.Name) and node.id in modules:
        return f"{node.id}, which is Python"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in plain:
        return f"{node.func.id}(), a plain Python function: give it @triton.jit too"
    return ""


def _is_kernel(function: ast.FunctionDef) -> bool:
    names = [ast.unparse(d).split("(")[0] for d in function.decorator_list]
    return any(name.split(".")[-1] == "jit" for name in names)


def _imported(tree: ast.Module) -> set[str]:
    """Names that the file imports from elsewhere than Triton."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            module = getattr(node, "module", None)
            for alias in node.names:
                if (module or alias.name).split(".")[0] != "triton":
                    found.add((alias.asname or alias.name).split(".")[0])
    return found


def _watch(path: str, refuse: Callable) -> None:
    """From now on code of the file `path` cannot touch the arrays of interpreted blocks."""

    def mine() -> None:
        if sys._getframe(2).f_code.co_filename == path:
            refuse(f"it uses {HANDLE} in the interpreter. {ONLY}")

    def read(handle):
        mine()
        return vars(handle)["data"]

    def write(handle, value):
        mine()
        vars(handle)["data"] = value

    kernels.interpreter().TensorHandle.data = property(read, write)
