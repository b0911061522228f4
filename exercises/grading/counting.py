"""Watches torch's operators while an answer runs: refuses forbidden ones, counts the others.

For [slow] exercises a check's drive counts what the answer did:

    with Count() as count:
        out = answer(**case)
    return {"out": out, "ops": count.calls("cat"), "bytes": count.bytes_written}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

# Attention has many doors: the Python function, torch._C._nn, torch.ops.aten, the modules built
# on it, and the kernels it ends in. All of these contain one of these words.
SDPA = (
    "scaled_dot_product", "multi_head_attention", "flex_attention", "_flash_attention",
    "_efficient_attention", "transformer_encoder_layer", "_safe_softmax", "cudnn_attention",
)  # fmt: skip
UNWRITTEN = ("empty", "empty_like", "empty_strided", "new_empty", "_unsafe_view")


class LightMode(TorchDispatchMode):
    """A TorchDispatchMode that does not import torch.compile (2 s) at its first operator."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


class Count(LightMode):
    """Counts operators and the bytes they write (views write nothing)."""

    def __init__(self):
        super().__init__()
        self.ops: Counter[str] = Counter()
        self.bytes_written = 0

    def calls(self, *names: str) -> int:
        """How often these operators ran: calls("cat", "stack")."""
        return sum(self.ops[name] for name in names)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        name = func._schema.name.split("::")[-1]
        self.ops[name] += 1
        alias = [result.alias_info for result in func._schema.returns]
        fills = any(a is None or a.is_write for a in alias)  # otherwise it returned views
        if fills and name not in UNWRITTEN:
            tensors = [t for t in _flat(out) if isinstance(t, torch.Tensor)]
            self.bytes_written += sum(t.numel() * t.element_size() for t in tensors)
        return out


def _flat(out) -> list:
    return list(out) if isinstance(out, (tuple, list)) else [out]


class _Functions(TorchFunctionMode):
    """Sees what is called by name, before it is taken apart into operators."""

    def __init__(self, see: Callable[[str], None]):
        super().__init__()
        self.see = see

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.see(getattr(func, "__name__", ""))
        return func(*args, **(kwargs or {}))


class _Operators(LightMode):
    """Sees the operators that reach the device."""

    def __init__(self, see: Callable[[str], None]):
        super().__init__()
        self.see = see

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.see(func._schema.name)
        return func(*args, **(kwargs or {}))


class Watch:
    """Calls refuse(text) when a forbidden operator runs, by whatever route; new threads too."""

    def __init__(
        self, forbid: tuple[str, ...], refuse: Callable[[str], None], only: tuple[str, ...] = ()
    ):
        self.only = only  # where there are any: the operators that may run
        self.names = {name for name in forbid if name != "sdpa"}
        self.parts = SDPA if "sdpa" in forbid else ()
        self.refuse = refuse

    def see(self, name: str) -> None:
        short = name.split("::")[-1].split(".")[0]
        if any(part in short for part in self.parts):
            self.refuse(f"it called {short}: here you write attention yourself")
        if short in self.names or short.rstrip("_") in self.names:
            self.refuse(f"it called {short}, which this exercise does without")

    def see_operator(self, name: str) -> None:
        short = name.split("::")[-1]
        if self.only and short not in self.only:
            self.refuse(f"it called torch's {short}: here your kernel does the work, not torch")
        self.see(name)

    def around(self, function: Callable) -> Callable:
        """`function`, watched while it runs."""

        def watched(*args, **keywords):
            with self.copy():
                return function(*args, **keywords)

        return watched

    def __enter__(self):
        self.modes = [_Functions(self.see), _Operators(self.see_operator)]
        for mode in self.modes:
            mode.__enter__()
        return self

    def __exit__(self, *error):
        for mode in reversed(self.modes):
            mode.__exit__(*error)

    def threads(self) -> None:
        """From now on every new thread is watched too: torch's modes belong to one thread."""
        import _thread
        import threading

        def watching(start):
            def start_watched(function, *args, **keywords):
                def run(*its_args, **its_keywords):
                    with self.copy():
                        return function(*its_args, **its_keywords)

                return start(run, *args, **keywords)

            return start_watched

        for module in (_thread, threading):
            for name in ("start_new_thread", "_start_new_thread", "_start_joinable_thread"):
                if hasattr(module, name):
                    setattr(module, name, watching(getattr(module, name)))

    def copy(self) -> Watch:
        """Another watch for the same operators, to be entered in another thread."""
        watch = Watch((), self.refuse, self.only)
        watch.names, watch.parts = self.names, self.parts
        return watch
