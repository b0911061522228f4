"""The faults that tools/mutation.py plants in a copy of the engine: text for text."""

from __future__ import annotations

from dataclasses import dataclass

BLOCKS, PAGED = "minillm/cache/blocks.py", "minillm/cache/paged.py"
SCHEDULER, RUNNER = "minillm/engine/scheduler.py", "minillm/engine/runner.py"
LLM, JOURNAL = "minillm/engine/llm.py", "minillm/engine/journal.py"
UNIT, PAGES, STOPS = (f"tests/test_{n}.py" for n in ("blocks", "paged", "engine_interrupt"))
PRODUCT = "kernels/quant_matmul.py"
KERNELS = "tests/test_kernels.py -k hands_its_buffers"
ROWS, ENGINE = "tests/test_faults.py", "tests/test_engine.py tests/test_engine_serving.py"


@dataclass(frozen=True)
class Fault:
    """One planted fault: `old`, found exactly once in `file`, becomes `new`."""

    name: str
    file: str
    old: str
    new: str
    tests: str  # what must fail, as pytest takes it


FAULTS = (Fault(
        "hash without its parent", BLOCKS,
        'blake2b(parent + array("q", tokens)', 'blake2b(array("q", tokens)', UNIT,
    ),
    Fault(
        "evicted block still found", BLOCKS,
        "            del self.block_of[name]\n", "            pass\n", UNIT,
    ),
    Fault(
        "sealed before the step ran", SCHEDULER,
        "        plan.items.append((request, count))\n        plan.copies += copies\n",
        "        plan.items.append((request, count))\n        plan.copies += copies\n"
        "        self.blocks.seal(request.id, request.tokens, end, request.extras)\n",
        ENGINE,
    ),
    Fault(
        "partial block sealed", BLOCKS,
        "range(len(held.hashes), num_computed // self.block_size):",
        "range(len(held.hashes), self.blocks_for(num_computed)):", UNIT,
    ),
    Fault(
        "output lost at preemption", SCHEDULER,
        "        victim.preemptions += 1\n",
        "        victim.preemptions += 1\n        del victim.tokens[victim.num_prompt :]\n", ENGINE,
    ),
    Fault(
        "preempted request taken as decoding", SCHEDULER,
        "        victim.num_computed = 0\n",
        "        victim.num_computed = len(victim.tokens) - 1\n", ENGINE,
    ),
    Fault(
        "plan keeps the victim", SCHEDULER,
        "        plan.items = [item for item in plan.items if item[0] is not victim]\n", "",
        ENGINE,
    ),
    Fault(
        "copy on write skipped", BLOCKS,
        "if self.refs[table[i]] > 1]", "if self.refs[table[i]] > 2]", UNIT,
    ),
    Fault(
        "copy of the wrong half", PAGED,
        "for i in (0, 1))\n        for tensor", "for i in (1, 0))\n        for tensor", PAGES,
    ),
    Fault(
        "freed while another holds it", BLOCKS,
        "            if self.refs[block] == 0:\n                self.free[block] = None",
        "            if self.refs[block] <= 1:\n                self.free[block] = None", UNIT,
    ),
    Fault(
        "block put back twice", SCHEDULER,
        '            self.finish(request, "stop")\n',
        '            self.finish(request, "stop")\n            self.blocks.free.popitem()\n',
        ENGINE,
    ),
    Fault(
        "full hit leaves nothing to compute", BLOCKS,
        "range(0, len(tokens) - self.block_size, self.block_size)",
        "range(0, len(tokens) - self.block_size + 1, self.block_size)", UNIT,
    ),
    Fault(
        "other adapter's blocks match", BLOCKS,
        "blake2b(repr(extras).encode()", 'blake2b(b""', UNIT,
    ),
    Fault(
        "token budget ignored", SCHEDULER,
        "        count = min(request.pending, budget)\n", "        count = request.pending\n",
        ROWS,
    ),
    Fault(
        "seats ignored", SCHEDULER,
        "while budget and self.waiting and len(self.running) < self.config.max_num_seqs:",
        "while budget and self.waiting:", ENGINE,
    ),
    Fault(
        "never fits, never refused", SCHEDULER,
        "        if need > have:\n", "        if need > have + 1000:\n", ENGINE,
    ),
    Fault(
        "abort leaks its blocks", SCHEDULER,
        "            self.running.remove(request)\n            self.blocks.release(request.id)\n"
        "        elif",
        "            self.running.remove(request)\n            if reason != \"abort\":\n"
        "                self.blocks.release(request.id)\n        elif",
        ENGINE,
    ),
    Fault(
        "slot off by one", RUNNER,
        "table[p // size] * size + p % size for p",
        "table[p // size] * size + (p + 1) % size for p",
        ROWS,
    ),
    Fault(
        "position off by one", RUNNER,
        "            positions += range(start, end)\n",
        "            positions += range(start + (count == 1), end + (count == 1))\n", ROWS,
    ),
    Fault(
        "mask off by one", PAGED,
        "        valid_SL = place_L < len_S[:, None]\n",
        "        valid_SL = place_L <= len_S[:, None]\n", PAGES,
    ),
    Fault(
        "window off by one", PAGED,
        "place_L >= len_S[:, None] - window", "place_L > len_S[:, None] - window", PAGES,
    ),
    Fault(
        "NaN tail read", PAGED,
        "torch.where(valid_SL, slots_SL, slots_SL[:, :1])", "slots_SL", PAGES,
    ),
    Fault(
        "int8 with one scale for all heads", PAGED,
        "    scale_TG = wide.abs().amax(-1) / INT8_MAX\n",
        "    scale_TG = (wide.abs().amax(-1) / INT8_MAX).amax().expand(wide.shape[:2])\n", PAGES,
    ),
    Fault(
        "seed shared by neighbours", RUNNER,
        "        if request.id not in self.samplers:\n",
        "        if self.samplers:\n            return next(iter(self.samplers.values()))\n"
        "        if request.id not in self.samplers:\n",
        ENGINE,
    ),
    Fault(
        "same seed for all samples", LLM,
        "seed=(params.seed + nth) % (1 << 63)", "seed=params.seed", ENGINE,
    ),
    Fault(
        "prompt scored behind a prefix hit", LLM,
        "share_prefix=params.prompt_logprobs is None", "share_prefix=True", ENGINE,
    ),
    Fault(
        "interrupted step keeps its tokens", JOURNAL,
        "        del request.tokens[change.sizes.get(request, len(request.tokens)) :]\n", "", STOPS,
    ),
    Fault(
        "interrupted step keeps its blocks", SCHEDULER,
        "        self.blocks.clear()\n", "", STOPS,
    ),
    Fault(
        "ended requests are kept", LLM,
        "        self.answers.forget(request_id)\n", "", STOPS,
    ),
    Fault(
        "kernel: zero point off by one", PRODUCT, "(zero + HALF)", "(zero + HALF - 1)", KERNELS,
    ),
    Fault(
        "kernel: spare columns of x read", PRODUCT,
        "mask = (offs_k[None, :, :] < in_features) & mask_t[:, None, None]\n",
        "mask = (offs_k[None, :, :] < in_features + 8) & mask_t[:, None, None]\n", KERNELS,
    ),
)  # fmt: skip
