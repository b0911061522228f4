"""What an answer did with torch: counted for [slow] exercises, refused where it is forbidden."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch

from exercises.grading.counting import Count, Watch


def test_bytes_and_operators_are_counted():
    x = torch.ones(10, 4)
    with Count() as count:
        torch.cat([x, x])
        x[2:5] = 7
        x.add_(1)
        x.view(4, 10).t()[1:].unsqueeze(0)
        torch.empty(1000)
        x.reshape(40)
    assert count.calls("cat") == 1 and count.calls("cat", "add_") == 2
    # two copies of x, three rows, x once more; views and memory that nobody wrote are free
    assert count.bytes_written == 4 * (80 + 12 + 40)


def test_lists_of_results_count_in_full():
    with Count() as count:
        torch.ones(6).topk(2)
    assert count.bytes_written == 6 * 4 + 2 * 4 + 2 * 8
    with Count() as count:
        torch.zeros(6).split(2)
    assert count.bytes_written == 6 * 4


def refused(forbid, run) -> list[str]:
    found = []
    with Watch(forbid, found.append):
        run()
    return found


X = torch.randn(1, 2, 5, 8)
ROUTES = {
    "function": lambda: torch.nn.functional.scaled_dot_product_attention(X, X, X),
    "three dimensions": lambda: torch.nn.functional.scaled_dot_product_attention(X[0], X[0], X[0]),
    "inner": lambda: torch._C._nn.scaled_dot_product_attention(X, X, X),
    "packet": lambda: torch.ops.aten.scaled_dot_product_attention(X, X, X),
    "overload": lambda: torch.ops.aten.scaled_dot_product_attention.default(X, X, X),
    "math": lambda: torch._scaled_dot_product_attention_math(X, X, X),
    "cpu kernel": lambda: torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(X, X, X),
    "module": lambda: torch.nn.MultiheadAttention(8, 2)(X[0], X[0], X[0]),
    "fast module": lambda: torch.nn.MultiheadAttention(8, 2, batch_first=True).eval()(
        X[0], X[0], X[0], need_weights=False
    ),
    "layer": lambda: torch.nn.TransformerEncoderLayer(8, 2).eval()(X[0]),
}  # fmt: skip


@pytest.mark.parametrize("route", ROUTES)
def test_attention_is_seen_by_every_route(route):
    with torch.no_grad():
        assert refused(("sdpa",), ROUTES[route])


def test_attention_by_hand_is_not():
    assert not refused(("sdpa",), lambda: (X @ X.mT).softmax(-1) @ X)


def test_new_threads_are_watched(monkeypatch):
    import _thread

    for module in (_thread, threading):
        for name in ("start_new_thread", "_start_new_thread", "_start_joinable_thread"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, getattr(module, name))
    found = []
    Watch(("sdpa",), found.append).threads()
    thread = threading.Thread(target=ROUTES["function"])
    thread.start()
    thread.join()
    assert found


def test_watching_does_not_import_the_compiler():
    """torch.compile's modules take seconds; an answer must be checked in less."""
    program = """
import sys
import torch
from exercises.grading.counting import Count, Watch
with Watch(("sdpa",), print), Count():
    torch.ones(2) + 1
print("torch._dynamo" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


def test_no_check_watches_with_a_mode_that_loads_the_compiler():
    """A plain TorchDispatchMode does, and the compiler makes a folder: the tripwire is right."""
    root = Path(__file__).resolve().parents[1] / "exercises"
    checks = sorted(root.glob("ch*/check/*.py"))
    heavy = [p.name for p in checks if "TorchDispatchMode" in p.read_text(encoding="utf-8")]
    assert len(checks) > 70 and heavy == []
