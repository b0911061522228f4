"""The command line end to end: what it prints, where, with which exit code."""

from __future__ import annotations

import importlib
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from minillm import cli, cli_exit

ROOT = Path(__file__).resolve().parents[1]
CHILD = [sys.executable, "-m", "minillm"]
TEMPLATE = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A random model over bytes, with a tokenizer and a chat template."""
    return make_folder(tmp_path_factory.mktemp("cli") / "model", max_len=1 << 20)


def make_folder(folder, max_len: int):
    import torch
    from tokenizers import Tokenizer as Backend
    from tokenizers import decoders, models, pre_tokenizers

    from minillm.config import ModelConfig
    from minillm.model import Transformer
    from minillm.save import save
    from minillm.tokenizer import Tokenizer

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Backend(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens(["<eos>"])
    tokenizer = Tokenizer(backend, eos_token_ids=(256,), template=TEMPLATE)
    config = ModelConfig(
        family="llama", vocab_size=257, width=32, mlp_width=32, num_layers=1, num_heads=2,
        num_kv_heads=1, head_size=8, max_len=max_len, tie_embeddings=True, eos_token_ids=(256,),
    )  # fmt: skip
    torch.manual_seed(3)
    model = Transformer(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.normal_(std=0.5)
    save(model, tokenizer, folder)
    return folder


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command line here -> (exit code, stdout, stderr)."""
    monkeypatch.delenv("MINILLM_DEBUG", raising=False)

    def call(*argv):
        code = cli.run([str(a) for a in argv])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def child(*argv, **options):
    """Run a command line in a process of its own."""
    command = [*CHILD, *map(str, argv)]
    return subprocess.run(command, capture_output=True, timeout=120, **options)


def one_line(err: str) -> str:
    assert err.startswith("minillm: ") and err.count("\n") == 1 and err.endswith("\n"), err
    return err


def test_help_and_version_do_not_import_torch():
    program = """
import sys
from minillm import cli, cli_exit
for argv in (['--help'], [], ['generate', '--help'], ['eval', '--help'], ['bench', '--help'],
             ['--version'], ['generate', '--prompt', 'x', '--no-such-flag'], ['generate'],
             ['generate', '--file', 'no/such/file']):
    cli.run(argv)
assert not {'torch', 'transformers', 'tokenizers'} & set(sys.modules), 'imported too early'
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name in ("doctor", "generate", "eval", "bench", "--temperature", "--stride", "--pairs"):
        assert name in done.stdout


def test_version_names_the_project(run):
    code, out, _ = run("--version")
    assert code == 0 and out.startswith("minillm ") and out.count("\n") == 1


BAD = [
    (["--no-such-flag"], "--no-such-flag"),
    (["--temperature", "101"], "--temperature must be a number from 0 to 100"),
    (["--temperature", "nan"], "--temperature must be a number from 0 to 100"),
    (["--temperature", "warm"], "--temperature"),
    (["--top-p", "1.5"], "--top-p must be a number from 0 to 1"),
    (["--top-p", "0"], "--top-p must be above 0"),
    (["--top-k", "-1"], "--top-k must be a whole number from 0"),
    (["--min-p", "-0.1"], "--min-p must be a number from 0 to 1"),
    (["--max-tokens", "0"], "--max-tokens must be a whole number from 1"),
    (["--max-tokens", "1.5"], "--max-tokens"),
    (["--repetition-penalty", "0"], "--repetition-penalty must be above 0"),
    (["--presence-penalty", "101"], "--presence-penalty must be a number from -100 to 100"),
    (["--frequency-penalty", "-101"], "--frequency-penalty must be a number from -100 to 100"),
    (["--seed", "-1"], "--seed must be a whole number from 0"),
    (["--stop", ""], "--stop must hold texts that are not empty"),
    (["--stop-token-ids", "-1"], "--stop-token-ids must hold token ids"),
    (["--stop-token-ids", "99999999"], "stop token 99999999 is not in the vocabulary of"),
    (["Once"], '--prompt, in quotes: --prompt "Once upon a time"'),
    (["--logprobs", "101", "--json"], "--logprobs must be a whole number from 0 to 100"),
    (["--logprobs", "1"], "--json"),
    (["--dtype", "fp8"], "fp8"),
    (["--device", "tpu"], "tpu"),
]


@pytest.mark.parametrize("flags, expected", BAD, ids=[" ".join(f) for f, _ in BAD])
def test_bad_flag_is_one_line_that_names_it(run, folder, flags, expected):
    code, out, err = run("generate", "--model", folder, "--prompt", "ab", *flags)
    assert (code, out) == (2, "") and expected in one_line(err)


def test_prompt_must_come_from_one_place(run, folder):
    for argv in ([], ["--prompt", "x", "--file", "y"]):
        code, out, err = run("generate", "--model", folder, *argv)
        assert (code, out) == (2, "") and "--prompt" in one_line(err) and "--file" in err


@pytest.mark.parametrize("as_json", [[], ["--json"]], ids=["text", "json"])
def test_files_and_models_that_are_not_there(run, folder, tmp_path, as_json):
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    cases = [
        (["generate", "--file", tmp_path / "no"], "no does not exist"),
        (["generate", "--file", tmp_path], "is not a regular file"),
        (["generate", "--file", tmp_path / "latin"], "is not UTF-8"),
        (["generate", "--prompt", "x", "--model", tmp_path / "no"], "there is no model"),
        (["generate", "--prompt", "x", "--model", tmp_path], "config.json does not exist, so"),
        (
            ["generate", "--prompt", "x", "--model", tmp_path],
            "is no model's folder: give tiny, tiny-shrunk",
        ),
        (["generate", "--prompt", "x", "--model", ""], "is empty: give tiny, tiny-shrunk, blank"),
        (["generate", "--prompt", "x", "--model", tmp_path / "latin"], "neither a folder nor"),
        (["eval", "--file", tmp_path / "no"], "no does not exist"),
        (["eval", "--model", folder], "--tasks"),
        (["generate", "--prompt", "", "--model", folder], "the prompt is empty"),
        (["generate", "--prompt", "\udcff", "--model", folder], "not UTF-8"),
    ]
    for argv, expected in cases:
        code, out, err = run(*argv, *as_json)
        assert (code, out) == (2, "") and expected in one_line(err), argv


def test_prompt_longer_than_the_context(run, tmp_path):
    short = make_folder(tmp_path / "short", max_len=40)
    argv = ["generate", "--model", short, "--prompt", "x" * 30]
    code, out, err = run(*argv, "--max-tokens", 12)
    assert (code, out) == (2, "") and "context of 40" in one_line(err) and "max_tokens to 11" in err
    assert run(*argv, "--max-tokens", 11)[0] == 0
    code, out, err = run("generate", "--model", short, "--prompt", "y" * 99)
    assert (code, out) == (2, "") and "99 prompt tokens" in one_line(err)


def test_text_is_the_decoded_tokens_and_json_has_its_fields(run, folder):
    argv = ["generate", "--model", folder, "--prompt", "안녕 🙂 naïve", "--max-tokens", 12]
    code, text, err = run(*argv)
    assert (code, err) == (0, "")
    code, out, err = run(*argv, "--json", "--logprobs", 2, "--prompt-logprobs", 1)
    found = json.loads(out)
    assert (code, err, out.count("\n")) == (0, "", 1)
    assert text == found["text"] + "\n"
    assert found["model"] == str(folder) and found["finish_reason"] == "length"
    assert found["prompt_tokens"] == len("안녕 🙂 naïve".encode())
    assert len(found["tokens"]) == len(found["logprobs"]) == 12
    from minillm.load import load

    model, tokenizer = load(folder)
    assert found["text"] == tokenizer.decode(found["tokens"])
    for token, choices in zip(found["tokens"], found["logprobs"]):
        assert choices[0]["token"] == token and -50 < choices[0]["logprob"] <= 0
        assert len(choices) == 2 and all(c["text"] for c in choices)  # greedy: among the 2 best
    assert found["prompt_logprobs"][0] is None
    assert len(found["prompt_logprobs"]) == found["prompt_tokens"]
    times = found["timings"]
    assert 0 < times["load_s"] and 0 < times["ttft_s"] < times["total_s"]
    between = times["total_s"] - times["ttft_s"]
    assert times["tokens_per_s"] == pytest.approx(11 / between)


def test_one_token_has_no_speed(run, folder):
    _, out, _ = run("generate", "--model", folder, "--prompt", "a", "--max-tokens", 1, "--json")
    assert json.loads(out)["timings"]["tokens_per_s"] is None


def test_sampling_flags_reach_the_sampler(run, folder):
    """Every flag changes this text, alone: a flag that is dropped on the way is noticed."""
    base = ["generate", "--model", folder, "--prompt", "abc", "--max-tokens", 24, "--json"]
    base += ["--ignore-eos"]
    tokens = lambda *flags: json.loads(run(*base, *flags)[1])["tokens"]  # noqa: E731
    greedy, hot = tokens(), ["--temperature", "1.5", "--seed", "7"]
    drawn = tokens(*hot)
    assert drawn != greedy and drawn == tokens(*hot)
    assert tokens("--temperature", "1.5", "--seed", "8") != drawn
    assert tokens(*hot, "--top-k", "1") == greedy
    assert tokens(*hot, "--top-p", "0.000001") == greedy
    assert tokens(*hot, "--min-p", "1") == greedy
    for flag in ("--repetition-penalty", "--presence-penalty", "--frequency-penalty"):
        assert tokens(flag, "50") != greedy, flag
    first = greedy[0]
    stopped = json.loads(run(*base, "--stop-token-ids", first)[1])
    assert stopped["tokens"] == [] and stopped["finish_reason"] == "stop"
    assert tokens("--max-tokens", "3") == greedy[:3]


def test_stop_text_ends_the_answer(run, folder):
    argv = ["generate", "--model", folder, "--prompt", "abc", "--max-tokens", 24, "--json"]
    whole = json.loads(run(*argv)[1])["text"]
    stop = next(c for c in whole[1:] if c not in whole[:1] + "\ufffd")
    found = json.loads(run(*argv, "--stop", "never there", "--stop", stop)[1])
    assert found["text"] == whole[: whole.index(stop)] and found["finish_reason"] == "stop"


def test_chat_goes_through_the_template(run, folder, monkeypatch):
    argv = ["generate", "--model", folder, "--prompt", "hi", "--max-tokens", 1, "--json"]
    found = json.loads(run(*argv, "--chat")[1])
    assert found["prompt_tokens"] == len("[user]hi[assistant]")
    (folder / "tokenizer_config.json").rename(folder / "kept")
    try:
        code, out, err = run(*argv, "--chat")
    finally:
        (folder / "kept").rename(folder / "tokenizer_config.json")
    assert (code, out) == (2, "") and "no chat template" in one_line(err)


@pytest.mark.parametrize("flag", ["--prompt", "--file"])
def test_stdin(run, folder, monkeypatch, flag):
    def feed(data: bytes):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return run("generate", "--model", folder, flag, "-", "--max-tokens", 2, "--json")

    assert json.loads(feed("né".encode())[1])["prompt_tokens"] == 3
    code, out, err = feed(b"\xff")
    assert (code, out) == (2, "") and "stdin is not UTF-8" in one_line(err)


def test_pieces_come_one_after_another_and_make_the_whole(folder, monkeypatch):
    from minillm.cli_text import write_answer
    from minillm.load import load
    from minillm.sampling import SamplingParams

    model, tokenizer = load(folder)
    generate = importlib.import_module("minillm.generate")  # the package has a function so named
    events, real = [], generate.steps

    def watched(*args):
        for step in real(*args):
            events.append(step.token)
            yield step

    monkeypatch.setattr(generate, "steps", watched)
    params = SamplingParams(max_tokens=20, ignore_eos=True)
    answer = write_answer(model, tokenizer, [1, 2], params, events.append)
    pieces = [e for e in events if isinstance(e, str)]
    assert "".join(pieces) == answer.text == tokenizer.decode(answer.tokens)
    assert len(pieces) > 3 and all(pieces)
    assert events.index(pieces[0]) < 10, "the first piece must not wait for the last token"


def test_every_piece_is_flushed_before_the_next(folder, monkeypatch):
    events = []

    class Spy(io.StringIO):
        def write(self, text):
            events.append(text)
            return super().write(text)

        def flush(self):
            events.append("flush")

    monkeypatch.setattr(sys, "stdout", Spy())
    argv = ["generate", "--model", str(folder), "--prompt", "ab", "--max-tokens", "9"]
    assert cli.run([*argv, "--ignore-eos"]) == 0
    written = [i for i, e in enumerate(events) if e not in ("flush", "\n")]
    assert len(written) > 2 and all(events[i + 1] == "flush" for i in written)


def interrupt_after(monkeypatch, count: int):
    generate = importlib.import_module("minillm.generate")
    real = generate.steps

    def interrupted(*args):
        for number, step in enumerate(real(*args)):
            if number == count:
                raise KeyboardInterrupt
            yield step

    monkeypatch.setattr(generate, "steps", interrupted)


def test_interrupted_json_holds_what_was_written(run, folder, monkeypatch):
    argv = ["generate", "--model", folder, "--prompt", "abc", "--json", "--ignore-eos"]
    whole = json.loads(run(*argv)[1])
    interrupt_after(monkeypatch, 5)
    code, out, err = run(*argv)
    found = json.loads(out)
    assert (code, err) == (130, "") and found["finish_reason"] == "interrupted"
    assert found["tokens"] == whole["tokens"][:5]
    interrupt_after(monkeypatch, 0)
    code, out, _ = run(*argv)
    assert code == 130 and json.loads(out)["timings"]["ttft_s"] is None


def long_text(folder) -> list[str]:
    flags = ["--model", str(folder), "--prompt", "abc", "--ignore-eos", "--max-tokens", "300000"]
    return [*CHILD, "generate", *flags]


@pytest.mark.skipif(os.name == "nt", reason="Windows sends Ctrl-C to a group, not to a process")
def test_ctrl_c_in_a_child_keeps_the_text_and_says_130(run, folder):
    process = subprocess.Popen(
        long_text(folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        # a shell's background job ignores Ctrl-C and hands that on: a terminal's does not
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    first = process.stdout.read(8)  # it is writing
    process.send_signal(signal.SIGINT)
    rest, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"")
    text = (first + rest).decode()
    _, whole, _ = run(*long_text(folder)[3:-1], 64)
    common = min(len(text) - 2, len(whole) - 2)  # the last character may have been cut in half
    assert text.endswith("\n") and common >= 3 and text[:common] == whole[:common]


@pytest.mark.skipif(os.name == "nt", reason="pipes break differently on Windows")
def test_closed_pipe_is_silent(folder):
    process = subprocess.Popen(long_text(folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read(1)
    process.stdout.close()
    assert process.wait(timeout=60) == 141
    assert process.stderr.read() == b""


@pytest.mark.skipif(os.name == "nt", reason="pipes break differently on Windows")
@pytest.mark.parametrize("argv", [["--help"], ["eval", "--file", "LICENSE"]], ids=" ".join)
def test_closed_pipe_of_a_table_is_silent(argv):
    process = subprocess.Popen(
        [*CHILD, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    )
    process.stdout.close()  # before the first line can be written
    assert process.wait(timeout=60) == 141
    assert process.stderr.read() == b""


@pytest.mark.skipif(os.name == "nt", reason="no sh there")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_as_devnull(folder, closed):
    def shell(*argv):
        command = " ".join([*CHILD, *argv, closed])
        return subprocess.run(["sh", "-c", command], capture_output=True, timeout=60, text=True)

    done = shell("generate", "--model", str(folder), "--prompt", "-", "--max-tokens", "2")
    assert (done.returncode, "unexpected" in done.stderr) == (2, False)  # the prompt is empty
    done = shell("generate", "--model", str(folder), "--prompt", "a", "--max-tokens", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert (done.stdout == "") == (" >&-" in f" {closed}")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_full_stderr_keeps_the_code():
    with open("/dev/full", "wb") as full:
        command = [*CHILD, "generate", "--prompt", "a", "--temperature", "nan"]
        assert subprocess.run(command, stderr=full, timeout=60).returncode == 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_full_disk_is_one_line(folder):
    with open("/dev/full", "wb") as full:
        command = [*CHILD, "generate", "--model", str(folder), "--prompt", "a"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60, text=True)
    assert done.returncode == 2 and "no space left" in one_line(done.stderr)


def test_unexpected_errors_are_one_line_unless_debugging(run, folder, monkeypatch):
    def broken(*args):
        raise KeyError("a fault\nof ours")

    monkeypatch.setattr(importlib.import_module("minillm.load"), "load", broken)
    argv = ["generate", "--model", folder, "--prompt", "a"]
    code, out, err = run(*argv)
    assert (code, out) == (1, "") and "KeyError" in one_line(err) and "--debug" in err
    monkeypatch.setenv("MINILLM_DEBUG", "")
    with pytest.raises(KeyError):
        run("--debug", *argv)


@pytest.mark.parametrize(
    "error, expected",
    [
        (MemoryError(), "not enough memory"),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"), "not enough"),
        (OSError(28, "No space left on device", "/some/file"), "no space left on the disk: /some"),
        (OSError(5, "Input/output error", "/some/file"), "minillm: /some/file: Input/output error"),
        (ArithmeticError("the logits hold NaN"), "NaN"),
    ],
    ids=["memory", "torch memory", "disk", "file", "nan"],
)
def test_expected_errors_are_code_2(run, folder, monkeypatch, error, expected):
    def broken(*args):
        raise error

    monkeypatch.setattr(importlib.import_module("minillm.load"), "load", broken)
    monkeypatch.setattr(cli_exit, "_forget_stdout", lambda: None)
    code, out, err = run("generate", "--model", folder, "--prompt", "a")
    assert (code, out) == (2, "") and expected in one_line(err)


def test_eval_of_a_file(run, folder, tmp_path):
    from minillm.compress.evaluate import perplexity
    from minillm.load import load

    model, tokenizer = load(folder)
    text = "a text of some length, 안녕\n" * 9
    (tmp_path / "t.txt").write_text(text, "utf-8")
    argv = ["eval", "--model", folder, "--file", tmp_path / "t.txt"]
    code, out, err = run(*argv, "--window", 50, "--stride", 20, "--json")
    found = json.loads(out)
    ids = tokenizer.encode(text)
    assert (code, err) == (0, "") and found["tokens"] == len(ids)
    assert found["perplexity"] == pytest.approx(perplexity(model, ids, 50, 20), rel=1e-6)
    code, out, _ = run(*argv)
    assert code == 0 and f"{perplexity(model, ids):.3f}" in out
    for flags, expected in [
        (["--window", "1"], "--window"),
        (["--window", "50", "--stride", "50"], "stride must be from 1 to 49"),
        (["--window", 1 << 21], "context of 1048576"),
    ]:
        code, out, err = run(*argv, *flags)
        assert (code, out) == (2, "") and expected in one_line(err)


def test_eval_of_the_tasks(run, folder):
    from minillm.compress import evaluate
    from minillm.corpus import TASKS
    from minillm.load import load

    argv = ["eval", "--model", folder, "--tasks", "--count", 3, "--seed", 5]
    code, out, err = run(*argv, "--json")
    found = json.loads(out)
    assert code == 0 and set(found["tasks"]) == set(TASKS) and found["count"] == 3
    want = evaluate.tale_perplexity(*load(folder), 3, 5)
    assert found["tales_perplexity"] == pytest.approx(want, rel=1e-6)
    code, out, _ = run(*argv)
    assert code == 0 and all(task in out for task in TASKS) and f"{want:.3f}" in out
    code, out, err = run("eval", "--model", folder, "--tasks", "--count", 0)
    assert (code, out) == (2, "") and "--count" in one_line(err)


def test_bench_writes_json_to_stdout_or_a_file(run, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("MINILLM_FAST", "1")  # restored afterwards: --fast sets it
    argv = ["bench", "--suite", "decode", "--model", folder, "--fast", "--no-peers"]
    code, out, _ = run(*argv, "--json", "-")
    assert code == 0 and json.loads(out)["models"][0]["model"] == str(folder)
    target = tmp_path / "r.json"
    code, out, _ = run(*argv, "--json", target)
    report = json.loads(target.read_text())
    assert code == 0 and report["fast"] and "tokens/s" in out and "no ratio" in out
    assert report["models"][0]["engines"]["minillm"]["tokens_per_s"] > 0


def test_bench_refuses_by_name(run, tmp_path):
    for argv, expected in [
        (["--suite", "magic"], "--suite"),
        (["--suite", "serve", "--model", "tiny"], "--model"),
        (["--pairs", "0"], "--pairs"),
        (["--json", tmp_path / "no" / "r.json"], "--json"),
        (["--json", tmp_path], "--json"),
        (["--model", tmp_path / "nothing"], "nothing"),
    ]:
        code, out, err = run("bench", *argv)
        line = err.strip().splitlines()[-1]
        assert (code, out) == (2, "") and line.startswith("minillm: ") and expected in line


def test_doctor(run):
    code, out, err = run("doctor", "--json")
    assert (code, err) == (0, "") and json.loads(out)["torch"]["version"]
    code, out, err = run("doctor")
    assert code == 0 and "This machine" in out


def test_tiny_is_the_default_model_and_answers():
    done = child("generate", "--prompt", "copy: a b c =", "--max-tokens", "4", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["model"] == "tiny" and len(found["tokens"]) >= 1
