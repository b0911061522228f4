"""What the gpu suite asks of a GPU, and what is missing where there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from minillm import kernel_choice, machine
from minillm.kernel_cases import Case, kernel_of

CALLS = 20  # of a kernel in one sample: the clock of a GPU counts half microseconds


def missing() -> str | None:
    """One line that says why the suite cannot run here, or None."""
    import torch

    if not torch.cuda.is_available():
        build = torch.version.cuda
        why = f"was built with CUDA {build}, but finds no GPU" if build else "was built for CPUs"
        return f"the gpu suite needs an NVIDIA GPU: torch {torch.__version__} {why}; not measured"
    why = kernel_choice.missing(kernel_choice.capability_of("cuda"), torch.float16)
    return f"the gpu suite cannot run: {why}; not measured" if why else None


class Cuda:
    """The current GPU."""

    name = "cuda"

    def __init__(self):
        import torch

        self.torch = torch
        self.capability = kernel_choice.capability_of("cuda")
        self.properties = torch.cuda.get_device_properties(torch.cuda.current_device())

    def facts(self) -> dict:
        """Name, capability, memory: what a figure is worthless without."""
        p = self.properties
        return {
            "name": p.name, "capability": self.capability, "memory_bytes": p.total_memory,
            "multiprocessors": p.multi_processor_count, "l2_cache_bytes": self._cache(),
            "cuda": self.torch.version.cuda,
        }  # fmt: skip

    def _cache(self) -> int:
        return getattr(self.properties, "L2_cache_size", 0) or machine.ASSUMED_CACHE

    def dtypes(self) -> tuple:
        """The number formats that the card computes in."""
        t = self.torch
        more = (t.bfloat16,) if kernel_choice.has_bf16(self.capability) else ()
        return (t.float32, t.float16, *more)

    def bandwidth(self) -> dict:
        """The better of copying and reading, measured now."""
        found = [machine.copy_bandwidth(self.name), machine.read_bandwidth(self.name)]
        return asdict(max(found, key=lambda b: b.bytes_per_second))

    def outside(self, count: int) -> bool:
        """Whether so many bytes are far more than the L2 cache holds."""
        return count >= machine.CACHE_MULTIPLE * self._cache()

    def kernel(self, case: Case) -> Callable:
        """The compiled kernel."""
        return kernel_of(case)

    def timer(self, work: Callable[[], object]) -> Callable[[], float]:
        """A function that returns the seconds of one call, the mean of CALLS in a row.

        The calls are recorded as a CUDA graph, so that Python's time to start them is not counted;
        where that fails, they are started one by one.
        """
        torch = self.torch
        with torch.inference_mode():
            for _ in range(3):
                work()
            torch.cuda.synchronize()
            run = self._recorded(work)
        start, end = (torch.cuda.Event(enable_timing=True) for _ in (0, 1))

        def sample() -> float:
            with torch.inference_mode():
                start.record()
                run()
                end.record()
                torch.cuda.synchronize()
            return start.elapsed_time(end) / 1e3 / CALLS

        sample()
        return sample

    def _recorded(self, work: Callable) -> Callable:
        torch = self.torch

        def plain():
            for _ in range(CALLS):
                work()

        try:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                plain()
        except RuntimeError:
            torch.cuda.synchronize()
            return plain
        return graph.replay
