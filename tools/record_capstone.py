"""Records what each format of the capstone does to the answers of the default model.

python -m tools.record_capstone     writes exercises/ch14_choice/quality.json (about ten minutes)

Every product's own tasks behind its own system prompt, through the real engine and its K/V pool.
100 requests are too few to judge by: 33 right answers of a kind know a share to 3 points only.
Run it again after a retraining: tests/test_ch14.py compares the file with the model.
"""

from __future__ import annotations

import copy
import itertools
import json

import torch

from exercises.ch14_choice import serving, workload
from minillm import corpus
from minillm.bench import _circumstances
from minillm.config import EngineConfig
from minillm.engine.llm import LLM
from minillm.sampling import SamplingParams
from tools.record_fragility import weights_sha

COMMAND = "python -m tools.record_capstone"
FULL = ("fp16", None)
COUNT, SEED = 300, 14  # unseen items a task
STORIES = 60  # tales, each about 80 tokens, every one of which is compared


def engine(model, kv: str) -> LLM:
    """Computes in float32, which is faster on a CPU; what is stored is in the format's own bits."""
    return LLM(model, None, EngineConfig(num_blocks=1200, max_batch_tokens=1024, kv_dtype=kv))


def share_right(model, kv: str, product: str, task: str, count: int) -> float:
    """Exact answers, with their end token."""
    encode = serving.tiny()[1].encode
    system = workload.system_tokens(workload.system(product), encode)
    items = corpus.test_items(task, count, SEED)
    jobs = [workload.job_tokens([0, task, i.prompt, i.answer], encode) for i in items]
    params = [SamplingParams(max_tokens=len(right), ignore_eos=True) for _, right in jobs]
    found = engine(model, kv).generate([system + own for own, _ in jobs], params)
    return sum(f.tokens == right for f, (_, right) in zip(found, jobs)) / count


def likeliest(model, kv: str, product: str, count: int) -> list[int]:
    """The next token that the model would write, at every place of unseen tales."""
    encode = serving.tiny()[1].encode
    system = workload.system_tokens(workload.system(product), encode)
    tales = [encode(i.answer) for i in corpus.test_items("tales", count, SEED)]
    params = SamplingParams(max_tokens=1, prompt_logprobs=1)
    found = engine(model, kv).generate([system + tale for tale in tales], params)
    rows = [c.prompt_logprobs[len(system) :] for c in found]
    return [max(row, key=row.get) for row in itertools.chain(*rows)]


@torch.inference_mode()
def measure(product: str, weights: str, pruning, kv: str, count=COUNT, stories=STORIES) -> dict:
    """{task: share}; for tales the share of tokens that the 16-bit model would write too."""
    full, model = (copy.deepcopy(serving.model_of(*f)).float() for f in (FULL, (weights, pruning)))
    shares = {}
    for task in workload.PRODUCTS[product]["tasks"]:
        if task == "tales":
            want = likeliest(full, "fp16", product, stories)
            got = likeliest(model, kv, product, stories)
            shares[task] = round(sum(a == b for a, b in zip(want, got)) / len(want), 4)
        else:
            shares[task] = round(share_right(model, kv, product, task, count), 4)
    return shares


def main() -> None:
    report = {"command": COMMAND, "weights_sha256": weights_sha(), "count": COUNT}
    report |= {"stories": STORIES, "seed": SEED}
    report |= {k: v for k, v in _circumstances().items() if k in ("date", "machine", "versions")}
    formats = list(itertools.product(serving.PRUNING, serving.BITS))
    report["weights"] = {workload.name_of(w, p): serving.bytes_of(w, p) for p, w in formats}
    report["kv_token"] = {kv: serving.kv_bytes(kv) for kv in serving.KV}
    report["rows"] = []
    for pruning, weights, kv, product in itertools.product(
        serving.PRUNING, serving.BITS, serving.KV, workload.KINDS
    ):
        row = {"product": product, "weights": weights, "pruning": pruning, "kv": kv}
        report["rows"].append(row | {"tasks": measure(product, weights, pruning, kv)})
        print(json.dumps(report["rows"][-1]), flush=True)
    workload.RECORD.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
