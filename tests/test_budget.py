"""The planner: its bytes against the real engine, its speed against counts by hand."""

import subprocess
import sys
import weakref
from dataclasses import replace

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import minillm
from minillm import budget_check
from minillm.budget import Question, Speed, cost_of, plan, step_cost
from minillm.budget_devices import Gpu, find_gpu
from minillm.budget_formats import (
    Format,
    activation_bytes,
    kv_token_bytes,
    kv_windowed_bytes,
    weights_of,
)
from minillm.budget_models import Model, find_model, known_shapes, of_count
from minillm.cache.simple import StripCache
from minillm.compress.quant import quantize
from minillm.config import ConfigError, EngineConfig, ModelConfig
from minillm.engine.llm import LLM
from minillm.engine.pool import block_bytes, pool_dtype
from minillm.files import LoadError
from minillm.model import Transformer
from minillm.sampling import SamplingParams

H100 = find_gpu("H100")
PUBLISHED = {  # parameters, as counted by transformers for the published checkpoints
    "gemma3-270m": 268_098_176, "qwen3-0.6b": 596_049_920, "qwen3-4b": 4_022_468_096,
    "llama-2-7b": 6_738_415_616, "llama-3-8b": 8_030_261_248, "llama-3-70b": 70_553_706_496,
}  # fmt: skip
ODD = ModelConfig(  # untied, biases, widths that no group and no word divides
    family="qwen2", vocab_size=50, width=84, mlp_width=99, num_layers=2, num_heads=6,
    num_kv_heads=3, head_size=10, max_len=256, qkv_bias=True, output_bias=True, mlp_bias=True,
)  # fmt: skip
WINDOWS = ModelConfig(
    family="gemma3", vocab_size=40, width=16, mlp_width=24, num_layers=4, num_heads=4,
    num_kv_heads=1, head_size=8, max_len=4096, windows=(3, None, 100, 3), qk_norm=True,
    post_norms=True, tie_embeddings=True,
)  # fmt: skip
DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
FORMATS = [  # and the K/V cache beside them
    (Format("fp32"), "auto"),
    (Format("fp16"), "int8"),
    (Format("int8", base="bf16"), "auto"),
    (Format("int4", 64, "int8", "fp16"), "int8"),
    (Format("int4", 32, "int4", "fp32"), "fp16"),
    (Format("nf4", 64, base="bf16"), "auto"),
    (Format("w8a8", base="fp32"), "bf16"),
]


# Bytes of a bare number of weights.


@pytest.mark.parametrize(
    "count, form, held",
    [
        (70e9, Format("fp16"), 140e9),
        (7e9, Format("fp32"), 28e9),
        (7e9, Format("int4", 128), 3.609375e9),  # half a byte, and 2 bytes for 128
        (7e9, Format("int4", 32), 3.9375e9),
        (7e9, Format("nf4", 64), 3.9375e9),  # its scales are fp32
        (7e9, Format("int8", 128), 7.109375e9),
    ],
)
def test_a_number_of_weights(count, form, held):
    made = plan(Question(of_count(int(count)), H100, form))
    assert made.weights.total == held


def test_a_number_of_weights_takes_its_attention_from_the_nearest_shape():
    assert [of_count(int(n)).name for n in (2e8, 3e9, 7e9, 9e9, 100e9)] == [
        "gemma3-270m", "qwen3-4b", "llama-2-7b", "llama-3-8b", "llama-3-70b",
    ]  # fmt: skip
    assert of_count(7 * 10**9, "qwen3-4b").config == find_model("qwen3-4b").config


# Bytes of a model.


@pytest.mark.parametrize("name", PUBLISHED)
def test_known_shapes_have_the_published_number_of_weights(name):
    model = find_model(name)
    assert model.parameters == PUBLISHED[name]
    assert find_model(known_shapes()[name]["source"]).config == model.config


@pytest.mark.parametrize(
    "name, layers, heads, size, token",
    [
        ("llama-3-8b", 32, 8, 128, 131_072),
        ("qwen3-0.6b", 28, 8, 128, 114_688),
        ("qwen3-4b", 36, 8, 128, 147_456),
        ("llama-2-7b", 32, 32, 128, 524_288),
        ("llama-3-70b", 80, 8, 128, 327_680),
    ],
)
def test_keys_and_values_to_the_byte(name, layers, heads, size, token):
    assert token == 2 * layers * heads * size * 2  # K and V, 16 bit
    made = plan(Question(find_model(name), find_gpu("H200"), context=100))
    assert made.kv_token == token
    assert made.kv_request == 7 * 16 * token  # 100 tokens stand in 7 blocks of 16
    coded = kv_token_bytes(find_model(name).config, "int8", "bf16")
    assert coded == token // 2 + 2 * layers * heads * 4  # a scale in fp32 a head and token


def test_windows_give_a_second_figure():
    token = kv_token_bytes(WINDOWS, "auto", "fp16")
    kept = [[t for t in range(500) if w is None or t >= 500 - w] for w in WINDOWS.windows]
    by_hand = sum(len(tokens) * 2 * 8 * 2 for tokens in kept)  # K and V, one head of 8, 2 bytes
    assert kv_windowed_bytes(WINDOWS, 500, token) == by_hand
    made = plan(Question(Model("w", WINDOWS), H100, Format("fp16"), context=500))
    assert made.kv_request_windowed == by_hand and made.kv_request == 512 * token
    assert plan(Question(find_model("tiny"), H100)).kv_request_windowed is None


def held_by_engine(model, kv_dtype: str, blocks: int) -> tuple[int, int]:
    llm = LLM(model, None, EngineConfig(num_blocks=blocks, kv_dtype=kv_dtype))
    weights = sum(sum(kinds.values()) for kinds in model.weight_bytes().values())
    return weights, llm.cache.nbytes


def built(dense: Transformer, form: Format):
    if form.dtype in DTYPES:
        return dense
    group = {} if form.group_size is None else {"group_size": form.group_size}
    return quantize(dense, form.dtype, head=form.head, **group)


def check_against_engine(model, name_or_config, form: Format, kv_dtype: str) -> None:
    """The promise is 5%; what is counted right is equal to the byte."""
    shape = name_or_config
    shape = Model("odd", shape) if isinstance(shape, ModelConfig) else find_model(shape)
    made = plan(Question(shape, H100, form, kv_dtype))
    weights, pool = held_by_engine(model, kv_dtype, blocks=9)
    assert (made.weights.total, 9 * made.kv_block) == (weights, pool)
    parts = {part: sum(kinds.values()) for part, kinds in model.weight_bytes().items()}
    assert parts == {part: getattr(made.weights, part) for part in parts}
    scales = [kinds.get("scale", 0) for kinds in model.weight_bytes().values()]
    assert made.weights.scales == sum(scales)
    assert made.weights.parameters == shape.parameters


@pytest.mark.parametrize("form, kv_dtype", FORMATS, ids=str)
def test_bytes_equal_those_of_the_engine_with_tiny(form, kv_dtype):
    dense, _ = minillm.load("tiny", dtype=form.base, device="cpu")
    check_against_engine(built(dense, form), "tiny", form, kv_dtype)


@pytest.mark.parametrize("form, kv_dtype", FORMATS, ids=str)
def test_bytes_equal_those_of_the_engine_with_odd_sizes(form, kv_dtype):
    torch.manual_seed(0)
    dense = Transformer(ODD).to(DTYPES[form.base])
    check_against_engine(built(dense, form), ODD, form, kv_dtype)


@pytest.mark.gemma
@pytest.mark.parametrize("form, kv_dtype", FORMATS, ids=str)
def test_bytes_equal_those_of_the_engine_with_gemma(form, kv_dtype):
    dense, _ = minillm.load("gemma3-270m", dtype=form.base, device="cpu")
    check_against_engine(built(dense, form), "gemma3-270m", form, kv_dtype)


@pytest.mark.gemma
def test_the_shape_of_gemma_is_that_of_the_real_model():
    shape, real = find_model("gemma3-270m").config, minillm.load("gemma3-270m")[0].config
    for name in ("windows", "max_len", "num_kv_heads", "head_size", "tie_embeddings", "qk_norm"):
        assert getattr(shape, name) == getattr(real, name), name


# Seats.


def room_for(seats: int, context: int, slack: int) -> float:
    """Memory in which exactly so many requests of tiny fit, less one byte of the next."""
    token = find_model("tiny").config.kv_bytes_per_token(4)
    weights = weights_of(find_model("tiny").config, Format("fp32")).total
    return weights + slack + (seats + 1) * context * token - 1


def serve(blocks: int, seats: int, prompt: int, answer: int) -> tuple[int, int]:
    """tiny serves so many requests at once -> (most that ran together, preemptions)."""
    model, _ = minillm.load("tiny", dtype="fp32", device="cpu")
    llm = LLM(model, None, EngineConfig(num_blocks=blocks, prefix_caching=False))
    assert llm.cache.nbytes == blocks * block_bytes(model, 16, pool_dtype(model, "auto")[1])
    for i in range(seats):
        llm.add([1 + i] * prompt, SamplingParams(max_tokens=answer, ignore_eos=True))
    most, ended = 0, []
    while llm.unfinished:
        ended += [e.completion for e in llm.step() if e.completion]
        most = max(most, len(llm.scheduler.running))
    assert len(ended) == seats
    return most, sum(c.metrics.preemptions for c in ended)


def test_seats_are_those_of_the_engine():
    """What the plan says fits runs at once to its end; with one more somebody must give way."""
    slack, context = 2**26, 64
    made = plan(Question(find_model("tiny"), Gpu("a", room_for(3, context, slack)), Format("fp32"),
                         context=context, slack=slack))  # fmt: skip
    assert (made.largest, made.blocks, made.slack) == (3, 15, slack)
    sizes = (made.question.prompt, context - made.question.prompt)
    assert serve(made.blocks, made.largest, *sizes) == (3, 0)
    most, preempted = serve(made.blocks, made.largest + 1, *sizes)
    assert most == 3 or preempted


def test_slack_holds_the_activations_at_least():
    tight = plan(Question(find_model("llama-3-8b"), H100, slack=1.0))
    assert tight.slack == tight.activations > 1
    config = find_model("llama-3-8b").config
    # 512 rows: 4 of the width, 4 of the MLP, cos and sin of a head; 2 bytes each;
    # 64 seats: 128,256 scores in 2 and in 4 bytes
    row = 4 * 4096 + 4 * 14336 + 2 * 128
    assert tight.activations == 512 * row * 2 + 64 * 128256 * 6
    assert activation_bytes(config, 1, 1, "fp32") == row * 4 + 128256 * 8
    assert plan(Question(find_model("llama-3-8b"), H100)).slack == 8e9  # a tenth


class Live(TorchDispatchMode):
    """The most bytes of new tensors that live at the same time."""

    def __init__(self, model, memory):
        super().__init__()
        tensors = [*model.parameters(), *tree_leaves(vars(memory))]
        self.old = {t.untyped_storage()._cdata for t in tensors if isinstance(t, torch.Tensor)}
        self.new, self.peak = {}, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        for tensor in tree_leaves(made):
            if isinstance(tensor, torch.Tensor):
                self.meet(tensor.untyped_storage())
        self.peak = max(self.peak, sum(self.new.values()))
        return made

    def meet(self, storage):
        if storage._cdata not in self.old and storage._cdata not in self.new:
            self.new[storage._cdata] = storage.nbytes()
            weakref.finalize(storage, self.new.pop, storage._cdata)


@pytest.mark.parametrize("config", [find_model("tiny").config, ODD], ids=["tiny", "odd"])
def test_activations_are_those_of_a_step(config):
    """Counted while the model runs."""
    torch.manual_seed(0)
    model, rows = Transformer(config), 200
    memory = StripCache.for_model(model, rows)
    with torch.inference_mode(), Live(model, memory) as live:
        model(torch.arange(rows) % config.vocab_size, memory=memory, rows=torch.tensor([rows - 1]))
    sampling = 4 * config.vocab_size  # fp32 scores of the sampler, which does not run here
    assert live.peak == pytest.approx(
        activation_bytes(config, rows, 1, "fp32") - sampling, rel=0.05
    )


# What does not fit.


def test_it_says_by_how_much_and_what_would_fit():
    made = plan(Question(of_count(70 * 10**9), H100, Format("fp16")))
    assert not made.fits and made.speed is None and made.blocks == 0
    assert made.missing == 140e9 + 8e9 - 80e9 + 4096 * 327_680
    ways = [line.split(" (")[0] for line in made.would_fit]
    assert ways == ["--dtype int8", "--dtype int4 --group-size 128"]
    assert plan(replace(made.question, format=Format("int8"))).fits


def test_what_would_fit_names_the_formats_of_the_device():
    """A T4 has no bf16 arithmetic; what only adds to a way that fits already is left out."""
    made = plan(Question(of_count(6 * 10**9), find_gpu("T4"), Format("fp32"), context=512))
    ways = [line.split(" (")[0] for line in made.would_fit]
    assert ways == ["--dtype fp16", "--dtype int8", "--dtype int4 --group-size 128"]
    other = Format("int4", 32, base="fp32")
    assert other.flags("fp16") == ("--dtype int4", "--group-size 32", "--base-dtype fp32")


def test_a_long_context_that_does_not_fit_is_answered_by_a_shorter_one():
    q = Question(of_count(7 * 10**9), find_gpu("T4"), Format("int4", 128, base="fp16"),
                 context=100_000)  # fmt: skip
    made = plan(q)
    (line,) = [text for text in made.would_fit if text.startswith("--context")]
    fitting = int(line.split()[1])
    assert plan(replace(q, context=fitting, prompt=None)).largest == 1
    assert not plan(replace(q, context=fitting + 1, prompt=None)).fits
    nothing = plan(Question(of_count(10**13), H100))
    assert nothing.would_fit == ("a device with more memory, or a smaller model",)


# Speed.

HAND = ModelConfig(  # H=2, G=1, K=4, D=8, F=16, V=32
    family="llama", vocab_size=32, width=8, mlp_width=16, num_layers=3, num_heads=2,
    num_kv_heads=1, head_size=4, max_len=64, tie_embeddings=True,
)  # fmt: skip


def test_a_step_by_hand():
    """A layer: qkv 16x8, o 8x8, gate_up 32x8, down 8x16 = 576 numbers; head 32x8; 7 norms of 8."""
    q = Question(Model("hand", HAND), H100, Format("fp16"), context=7)
    weights = plan(q).weights
    assert weights.read == 2 * (3 * 576 + 256 + 7 * 8) == weights.total
    cost = step_cost(q, weights, plan(q).kv_token, 1, 7, 5)
    assert cost.flops == 5 * (2 * 576 * 3 + 2 * 256 + 32 * 7 * 3)  # 4*H*K = 32 a pair
    assert cost.bytes == weights.read + 5 * 16 * (7 + 1) * 3  # K and V of a token: 16 a layer
    assert cost.launches == 3 * 4 + 1 + 3


@pytest.mark.parametrize(
    "bandwidth, peak, bound", [(1e6, 1e12, "bytes"), (1e12, 1e6, "arithmetic")]
)
def test_tokens_a_second_are_the_slower_of_bytes_and_arithmetic(bandwidth, peak, bound):
    gpu = Gpu("a", 1e6, bandwidth, peak, slack=0.0)
    q = Question(Model("hand", HAND), gpu, Format("fp16"), context=16, requests=5)
    made = plan(replace(q, slack=0.0, max_batch_tokens=8))
    cost = lambda *sizes: step_cost(q, made.weights, made.kv_token, *sizes)
    limit = lambda c: c.bytes / bandwidth if bound == "bytes" else c.flops / peak
    one, five = limit(cost(1, 16)), limit(cost(1, 16, 5))
    assert made.speed.bound == bound and made.speed.batch == 5
    assert made.speed.one_user == pytest.approx(1 / one)
    assert made.speed.decode == pytest.approx(5 / five)
    ttft = limit(cost(8, 8))  # the prompt in one piece; then 8 written tokens of each of the five
    assert made.speed.ttft == pytest.approx(ttft)
    assert made.speed.sustained == pytest.approx(5 * 8 / (5 * ttft + 8 * five))


def test_a_long_prompt_is_read_in_pieces():
    q = Question(find_model("llama-3-8b"), H100, context=2000, prompt=1100)
    made = plan(q)
    cost = lambda new, end: step_cost(q, made.weights, made.kv_token, new, end)
    pieces = [cost(512, 512), cost(512, 1024), cost(76, 1100)]
    seconds = [max(c.bytes / H100.bandwidth, c.flops / H100.peak) for c in pieces]
    assert made.speed.ttft == pytest.approx(sum(seconds))


def test_coded_weights_are_read_as_they_are():
    """A coded head of a tied model is read in place of the dense embedding, not beside it."""
    qwen = find_model("qwen3-0.6b")
    form = Format("int4", 64, "int8")
    weights = weights_of(qwen.config, form)
    assert weights.read == weights.total - weights.embedding
    assert weights.embedding == 151_936 * 1024 * 2
    untied = weights_of(find_model("llama-3-8b").config, Format("bf16"))
    assert untied.read == untied.total - 128_256 * 4096 * 2  # a row of it is looked up


def test_of_a_bare_number_every_weight_is_used_once_a_token():
    q = Question(of_count(7 * 10**9, "llama-2-7b"), H100, Format("fp16"), context=2)
    cost = step_cost(q, plan(q).weights, plan(q).kv_token, 1, 2)
    assert cost.flops == pytest.approx(2 * 7e9, rel=1e-3)  # and attention over two tokens
    assert cost.bytes == pytest.approx(14e9, rel=1e-3)


def test_what_is_not_known_is_not_predicted():
    tiny = find_model("tiny")
    assert plan(Question(tiny, Gpu("a", 1e9))).speed is None
    phone = plan(Question(tiny, find_gpu("phone"))).speed
    assert phone.one_user > 0 and phone.ttft is None and phone.sustained is None
    fp32 = plan(Question(tiny, H100, Format("fp32"))).speed  # the peak is that of 16 bit
    assert fp32.ttft is None


# Money.


def test_cost_and_break_even():
    q = Question(find_model("tiny"), H100, price_per_hour=2.0, api_price=0.5)
    speed = Speed(1, 10.0, 500.0, 400.0, 0.1, "bytes", 1)
    money = cost_of(q, speed)
    assert money.per_million == pytest.approx(2.0 / (400 * 3600) * 1e6)
    assert money.tokens_an_hour == 4e6  # at 0.5 a million these cost 2.0, as the hour does
    assert money.busy == pytest.approx(4e6 / (400 * 3600))
    alone = cost_of(replace(q, api_price=None), replace(speed, sustained=None))
    assert alone.per_million == pytest.approx(2.0 / (500 * 3600) * 1e6) and alone.busy is None


# Bad questions.


@pytest.mark.parametrize(
    "options, words",
    [
        (dict(context=8193), "context 8193 is beyond the 8192 tokens that llama-3-8b was made for"),
        (dict(context=0), "context must be a whole number from 2"),
        (dict(context=-5), "context must be"),
        (dict(context=2.5), "context must be"),
        (dict(prompt=4096), "prompt must be a whole number from 1 to 4095"),
        (dict(prompt=0), "prompt must be"),
        (dict(requests=0), "requests must be"),
        (dict(requests=10**9), "requests must be"),
        (dict(price_per_hour=0.0), "price_per_hour must be above 0"),
        (dict(price_per_hour=float("nan")), "price_per_hour must be above 0"),
        (dict(api_price=-1.0), "api_price must be above 0"),
        (dict(api_price=float("inf")), "api_price must be above 0"),
        (dict(kv_dtype="int4"), "kv_dtype must be auto, int8"),
    ],
)
def test_questions_that_make_no_sense(options, words):
    with pytest.raises(ConfigError, match=words):
        Question(find_model("llama-3-8b"), H100, **options)


@pytest.mark.parametrize(
    "options, words",
    [
        (dict(dtype="int3"), "dtype must be one of fp32"),
        (dict(dtype="int4", group_size=0), "group_size must be"),
        (dict(dtype="int4", group_size=2**21), "group_size must be"),
        (dict(dtype="fp16", group_size=64), "fp16 has no groups"),
        (dict(dtype="w8a8", group_size=64), "w8a8 has no groups"),
        (dict(dtype="int4", head="nf4"), "head must be int8 or int4"),
        (dict(dtype="int4", base="int8"), "base_dtype must be one of"),
    ],
)
def test_formats_that_make_no_sense(options, words):
    with pytest.raises(ConfigError, match=words):
        Format(**options)


@pytest.mark.parametrize("count", [0, -1, 10**15])
def test_counts_that_make_no_sense(count):
    with pytest.raises(ConfigError, match="params must be from 1 to"):
        of_count(count)


def test_a_bare_number_has_no_head_to_code():
    with pytest.raises(ConfigError, match="head: .* name a model"):
        Question(of_count(7 * 10**9), H100, Format("int4", head="int8"))


@pytest.mark.parametrize("name", ["no such thing", "\0", "x/y/z", ""])
def test_models_that_are_none(name):
    with pytest.raises(LoadError):
        find_model(name)


# The rest.


def test_a_plan_needs_no_torch():
    code = """
import sys
from minillm.budget import Question, plan
from minillm.budget_advice import decision_table
from minillm.budget_devices import find_gpu, this_machine
from minillm.budget_models import find_model, of_count
for model in (of_count(70 * 10**9), find_model("tiny"), find_model("llama-3-8b")):
    decision_table(plan(Question(model, find_gpu("H200"))))
this_machine()
print("torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "False", done.stderr


def test_check_compares_plan_and_engine():
    """Its bytes; its seconds are this machine's business."""
    report = budget_check.check(["tiny", "no such model"], rounds=1)
    (row,) = report["rows"]
    assert row["bytes_predicted"] == row["bytes_real"]
    assert row["tokens_per_s_predicted"] > 0 and row["tokens_per_s_real"] > 0
    assert "no such model" in report["not_tried"][0]
    assert budget_check.render_check(report).row_count == 1


def test_the_row_speed_is_that_of_the_product_of_the_engine_over_all_its_bytes(monkeypatch):
    read, linear = [], budget_check.ops.linear
    watch = lambda x, weight: read.append(weight.nbytes) or linear(x, weight)
    monkeypatch.setattr(budget_check.ops, "linear", watch)
    monkeypatch.setattr(budget_check.machine, "buffer_size", lambda device: (2**20, True))
    speed = budget_check.RowSpeed("cpu", torch.float32, 64)
    assert speed() > 0 and read and sum(read) % speed.big.nbytes == 0


@pytest.mark.parametrize("slower", [3.0, -1.0])
def test_what_stands_around_a_product_is_the_difference_of_two_passes(slower, monkeypatch):
    """Seconds of the passes are made up; what is done in them is real."""
    monkeypatch.setattr(budget_check.machine, "buffer_size", lambda device: (2**20, True))
    done, norm = [], budget_check.ops.rms_norm
    watch = lambda *args: done.append("norm") or norm(*args)
    monkeypatch.setattr(budget_check.ops, "rms_norm", watch)
    speed = budget_check.RowSpeed("cpu", torch.float32, 64)

    def times(work, device, tries):
        done.clear()
        work()
        assert len(done) in (0, len(speed.pieces))
        return [5.0 + slower * len(done)]

    monkeypatch.setattr(budget_check, "_times", times)
    assert speed.around(3) == max(0.0, slower)
