"""minillm plan end to end: its words, its JSON, and one line for every bad question."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from minillm import cli


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command line here -> (exit code, stdout, stderr)."""
    monkeypatch.delenv("MINILLM_DEBUG", raising=False)

    def call(*argv):
        code = cli.run(["plan", *map(str, argv)])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def values(run, *argv) -> dict:
    code, out, err = run(*argv, "--json")
    assert code == 0 and err == "" and out.count("\n") == 1
    return json.loads(out)


@pytest.mark.parametrize(
    "argv, words",
    [
        (["--params", "70e9", "--dtype", "fp16"], "140 GB (130 GiB)"),
        (["--params", "70B"], "140 GB (130 GiB)"),
        (["--params", "7e9", "--dtype", "fp32"], "28.00 GB (26.08 GiB)"),
        (["--params", "7e9", "--dtype", "int4", "--group-size", "128"], "3.61 GB (3.36 GiB)"),
        (["--params", "7e9", "--dtype", "int4", "--group-size", "32"], "3.94 GB (3.67 GiB)"),
    ],
)
def test_weights_in_both_units(run, argv, words):
    code, out, err = run(*argv)
    assert code == 0 and err == "" and f"weights           {words}" in out


@pytest.mark.parametrize("argv, words", [
    (["--model", "tiny", "--memory", "8GB"], "tiny, 3.608 million weights, bf16"),
    (["--params", "70B", "--memory", "80GB", "--dtype", "int8"], "70e9 weights, int8"),
    (["--params", "70B", "--memory", "80GB", "--dtype", "int8"], " 1 request of 4096 tokens"),
    (["--params", "70B", "--memory", "80GB", "--dtype", "int8"], "all are taken as coded"),
    (["--params", "70B", "--memory", "80GB", "--dtype", "int4"], "all are taken as coded"),
])  # fmt: skip
def test_numbers_are_said_as_one_would(run, argv, words):
    assert words in run(*argv)[1]


def test_a_device_without_a_name(run):
    assert "does not fit the given device" in run("--params", "70B", "--memory", "8GB")[2]


def test_a_plan_in_words(run):
    code, out, _ = run("--model", "llama-3-8b", "--gpu", "H100", "--requests", 64,
                       "--price-per-hour", 3, "--api-price", 0.2)  # fmt: skip
    assert code == 0
    blocks = (80 * 10**9 - 8 * 10**9 - 2 * 8_030_261_248) // (16 * 131_072)
    for words in (
        "16.06 GB (14.96 GiB)", "131,072 bytes", f"{blocks:,} blocks",
        "104 requests of 4096 tokens",
        "All 64 fit", "3,350.0 GB/s", "First token after 2048 prompt tokens", "Break-even with 0.2",
        "15,000,000 written tokens an hour", "Often said: ", "\nBetter: ", "\nSee: notebooks/",
        "all advice: --table", "NVIDIA H100 datasheet",
    ):  # fmt: skip
        assert words in out, words


def test_windows_are_two_figures(run):
    _, out, _ = run("--model", "gemma3-270m", "--gpu", "T4")
    assert "75.497 MB" in out and "20.447 MB" in out and "this engine keeps all" in out


def test_json_holds_the_same(run):
    found = values(run, "--model", "qwen3-4b", "--gpu", "L4", "--dtype", "int4",
                   "--group-size", 128, "--head", "int8", "--kv-dtype", "int8",
                   "--context", 1000, "--prompt", 900,
                   "--slack", "2GB", "--requests", 500, "--price-per-hour", 0.7)  # fmt: skip
    assert found["format"] == {"dtype": "int4", "group_size": 128, "head": "int8", "base": "bf16"}
    assert found["kv_token"] == 147_456 // 2 + 2 * 36 * 8 * 4
    assert found["kv_request"] == 63 * 16 * found["kv_token"]
    assert found["room"] == 24e9 - 2e9 - found["weights"]["total"]
    assert found["blocks"] == found["room"] // found["kv_block"]
    assert found["largest_batch"] == found["blocks"] // 63 < 500 and found["fits"]
    assert found["speed"]["batch"] == found["largest_batch"]
    assert found["money"]["busy"] is None and found["money"]["per_million"] > 0
    waiting = [row["here"] for row in found["advice"] if "same time" in row["situation"]]
    assert waiting == [f"{found['largest_batch']} of 500 requests run at once, the others wait"]
    assert all(row["notebooks"] for row in found["advice"])


@pytest.mark.parametrize(
    "gpu, dtype", [("T4", "fp16"), ("L4", "bf16"), ("phone", "bf16"), ("m4-max", "bf16")]
)
def test_the_usual_format_of_a_device(run, gpu, dtype):
    assert values(run, "--model", "tiny", "--gpu", gpu)["format"]["dtype"] == dtype


def test_the_default_device_is_this_one_and_in_fp32_without_a_gpu(run, monkeypatch):
    from minillm import budget_devices

    monkeypatch.setattr(budget_devices, "_nvidia_smi", lambda: "")
    monkeypatch.setattr(budget_devices.machine, "memory", lambda: (2**34, 2**33))
    found = values(run, "--model", "tiny")
    assert found["format"]["dtype"] == "fp32" and found["speed"] is None
    assert found["device"]["memory"] == 2**33  # what is free of it
    assert "--measure" in run("--model", "tiny")[1]
    monkeypatch.setattr(budget_devices, "_nvidia_smi", lambda: "NVIDIA T4, 15360\n")
    assert values(run, "--model", "tiny")["format"]["dtype"] == "fp16"


def test_own_figures_of_a_device(run):
    found = values(
        run, "--model", "tiny", "--memory", "48GB", "--bandwidth", "900GB", "--peak", 1e14
    )
    assert found["device"]["memory"] == 48e9 and found["speed"]["ttft"] > 0
    less = values(run, "--model", "tiny", "--gpu", "H100", "--memory", "40GB")
    assert (less["device"]["memory"], less["device"]["bandwidth"]) == (40e9, 3350e9)


def config_json(folder, **more):
    data = {
        "model_type": "llama", "vocab_size": 100, "hidden_size": 32, "intermediate_size": 64,
        "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
        "max_position_embeddings": 128,
    } | more  # fmt: skip
    (folder / "config.json").write_text(json.dumps(data))
    return folder


def test_what_is_no_model_s_folder_says_what_to_give(run, tmp_path, monkeypatch):
    code, out, err = run("--model", tmp_path, "--gpu", "T4")
    assert (code, out) == (2, "") and "is no model's folder: give tiny, tiny-shrunk" in err
    config_json(tmp_path)
    monkeypatch.chdir(tmp_path)  # an empty name is not the folder one stands in
    code, out, err = run("--model", "", "--gpu", "T4")
    assert (code, out) == (2, "") and "there is no model ''" in err and "a hub id" in err


def test_a_folder_and_a_config_json(run, tmp_path):
    config_json(tmp_path)
    by_folder = values(run, "--model", tmp_path, "--gpu", "T4")
    by_file = values(run, "--model", tmp_path / "config.json", "--gpu", "T4")
    assert by_folder["weights"] == by_file["weights"]
    assert by_folder["context"] == 128 and by_folder["kv_token"] == 2 * 2 * 2 * 8 * 2


def test_a_coded_folder_wants_to_know_how(run, tmp_path):
    config_json(tmp_path, quantization_config={"quant_method": "compressed-tensors"})
    code, _, err = run("--model", tmp_path, "--gpu", "T4")
    assert code == 2 and "--dtype int4 --group-size 64" in err
    assert values(run, "--model", tmp_path, "--gpu", "T4", "--dtype", "int4")["fits"]


def test_too_little_memory_is_said_with_what_would_fit(run):
    code, out, err = run("--params", "70e9", "--dtype", "fp16", "--gpu", "H100")
    assert code == 2 and "140 GB (130 GiB)" in out
    assert err.startswith("minillm: 70e9 weights in fp16 does not fit H100: 69.34 GB are missing")
    assert err.count("\n") == 1 and "Would fit" not in err  # it stands in the report
    assert "Would fit:\n  --dtype int8 (70" in out and "  --dtype int4 --group-size 128 (" in out
    again = run("--params", "70e9", "--dtype", "int4", "--group-size", "128", "--gpu", "H100")
    assert again[0] == 0 and "Does not fit" not in again[1]
    code, out, _ = run("--params", "70e9", "--dtype", "fp16", "--gpu", "H100", "--json")
    assert code == 2 and json.loads(out)["missing"] == pytest.approx(69.34e9, rel=1e-3)


def test_the_whole_table(run):
    _, some, _ = run("--model", "tiny", "--gpu", "T4", "--requests", "1")
    _, whole, _ = run("--model", "tiny", "--gpu", "T4", "--requests", "1", "--table")
    for situation in ("A laptop or a phone", "Memory is short", "Own device or somebody's API"):
        assert situation not in some and situation in whole
    assert some.count("Often said: ") <= 2 and whole.count("Often said: ") == 9
    assert "all advice" not in whole


@pytest.mark.parametrize("more, first", [
    (["--model", "llama-3-70b"], "Memory is short: "),
    (["--model", "llama-3-8b", "--requests", 500], "Many requests at the same time: "),
    (["--model", "tiny", "--requests", 1], "You want to serve a model: always"),
    (["--model", "llama-3-8b", "--price-per-hour", 3, "--api-price", 1], "Own device or "),
])  # fmt: skip
def test_the_advice_that_applies_most_comes_first(run, more, first):
    _, out, _ = run("--gpu", "H100", *more)
    place = out.index("Often said: ")
    assert out[:place].splitlines()[-1].startswith(first) and out.count("Often said: ") <= 2


@pytest.mark.parametrize("api, verdict", [
    (0.0001, "So the API is cheaper."), (100, "So the device is cheaper if it is busy more than")
])  # fmt: skip
def test_a_price_has_a_verdict(run, api, verdict):
    _, out, _ = run("--model", "llama-3-8b", "--gpu", "H100", "--price-per-hour", 3,
                    "--api-price", api)  # fmt: skip
    assert verdict in out


def test_names_are_the_same_everywhere(run, capsys):
    from minillm.load import NAMED, LoadError, load

    with pytest.raises(LoadError) as caught:
        load("no such model")
    for name in NAMED:
        assert values(run, "--model", name, "--gpu", "T4")["fits"]
        assert name in str(caught.value) and name in run("--model", "no such model")[2]
    for command in ("generate", "quantize", "prune", "plan"):
        assert cli.run([command, "--help"]) == 0
        shown = capsys.readouterr().out
        assert all(name in shown for name in NAMED), command


BAD = [
    ([], "--model NAME or --params 7e9"),
    (["--model", "tiny", "--params", "7e9"], "one of them"),
    (["--model", "tiny", "--like", "qwen3-4b"], "--like goes with --params"),
    (["--params", "-1"], "--params must be"),
    (["--params", "0"], "--params must be from 1"),
    (["--params", "nan"], "--params must be a number such as 70e9"),
    (["--params", "1e20"], "--params must be from 1"),
    (["--params", "7e9", "--head", "int8"], "--head: a bare number"),
    (["--params", "7e9", "--like", "no such shape"], "no model"),
    (["--model", "tiny", "--memory", "-80GB"], "--memory must be a finite number"),
    (["--model", "tiny", "--memory", "0"], "--memory must be from 1MB"),
    (["--model", "tiny", "--memory", "16"], "--memory 16 is 16 bytes: write 16GB"),
    (["--model", "tiny", "--memory", "16kb"], "is 16,000 bytes: write 16GB"),
    (["--model", "tiny", "--memory", "16384"], "write 16384MB"),
    (
        ["--model", "tiny", "--gpu", "T4", "--bandwidth", "300"],
        "--bandwidth 300 is 300 bytes a second: write 300GB",
    ),
    (["--model", "tiny", "--gpu", "T4", "--slack", "8"], "is 8 bytes: write 8GB or 8%"),
    (["--model", "tiny", "--memory", "nan"], "--memory must be a number such as 80GB"),
    (["--model", "tiny", "--memory", "1e30GB"], "--memory must be from 1MB"),
    (["--model", "tiny", "--bandwidth", "0"], "--bandwidth must be"),
    (["--model", "tiny", "--peak", "nan"], "--peak must be from 1e6"),
    (["--model", "tiny", "--peak", "-1"], "--peak must be from 1e6"),
    (["--model", "tiny", "--gpu", "B300"], "H200, RTX-4090"),
    (["--model", "tiny", "--gpu", "T4", "--dtype", "bf16"], "take fp16"),
    (["--model", "tiny", "--gpu", "T4", "--measure"], "leave --gpu and --memory out"),
    (["--check", "--gpu", "T4"], "--check runs on this machine"),
    (["--check", "--params", "7e9"], "--check runs on this machine"),
    (["--model", "tiny", "--dtype", "fp8"], "--dtype must be one of"),
    (["--model", "tiny", "--dtype", "int4", "--group-size", "0"], "--group-size must be"),
    (["--model", "tiny", "--dtype", "fp16", "--group-size", "64"], "--group-size: fp16 has no"),
    (["--model", "tiny", "--dtype", "fp16", "--base-dtype", "bf16"], "--base-dtype is for coded"),
    (["--model", "tiny", "--dtype", "int4", "--base-dtype", "int8"], "--base-dtype must be"),
    (["--model", "tiny", "--dtype", "int4", "--head", "nf4"], "--head must be int8 or int4"),
    (["--model", "tiny", "--kv-dtype", "int4"], "--kv-dtype must be auto, int8"),
    (["--model", "tiny", "--context", "1025"], "--context 1025 is beyond the 1024 tokens"),
    (["--model", "tiny", "--context", "0"], "--context must be"),
    (["--model", "tiny", "--context", "64", "--prompt", "64"], "--prompt must be"),
    (["--model", "tiny", "--requests", "0"], "--requests must be"),
    (["--model", "tiny", "--requests", "many"], "--requests"),
    (["--model", "tiny", "--gpu", "T4", "--slack", "100%"], "--slack of 100% leaves nothing"),
    (["--model", "tiny", "--gpu", "T4", "--slack", "much"], "--slack must be a number"),
    (["--model", "tiny", "--price-per-hour", "0"], "--price-per-hour must be above 0"),
    (["--model", "tiny", "--api-price", "nan"], "--api-price must be above 0"),
    (["--model", "no such model"], "give tiny, tiny-shrunk, blank, gemma3-270m"),
]


@pytest.mark.parametrize("argv, words", BAD, ids=[" ".join(argv) for argv, _ in BAD])
def test_a_bad_question_is_one_line_that_says_what_to_do(run, argv, words):
    code, out, err = run(*argv)
    assert (code, out) == (2, "") and words in err
    assert err.startswith("minillm: ") and err.count("\n") == 1


class Hub:
    """Stands in for the hub's session: what it was asked, and its one answer."""

    def __init__(self, text: str | None):
        self.text, self.asked = text, []

    def get(self, url, **options):
        self.asked.append(url)
        if self.text is None:
            raise ConnectionError("no network")
        return self

    def raise_for_status(self):
        pass


def test_without_a_network_a_hub_id_is_answered_with_what_is_known(run, monkeypatch):
    hub = Hub(None)
    monkeypatch.setattr("huggingface_hub.utils.get_session", lambda: hub)
    code, out, err = run("--model", "somebody/some-model", "--gpu", "T4")
    assert (code, out, len(hub.asked)) == (2, "", 1) and err.count("\n") == 1
    assert "qwen3-0.6b" in err and "--params 7e9" in err
    assert values(run, "--model", "Qwen/Qwen3-0.6B", "--gpu", "T4")["kv_token"] == 114_688
    assert len(hub.asked) == 1  # a known shape needs no network


def test_a_hub_id_needs_its_config_alone(run, monkeypatch, tmp_path):
    hub = Hub((config_json(tmp_path) / "config.json").read_text())
    monkeypatch.setattr("huggingface_hub.utils.get_session", lambda: hub)
    found = values(run, "--model", "some/model", "--gpu", "T4")
    assert found["model"]["name"] == "some/model" and found["kv_token"] == 128
    assert len(hub.asked) == 1 and hub.asked[0].endswith("/some/model/resolve/main/config.json")
    hub.text = "{"
    code, _, err = run("--model", "some/model", "--gpu", "T4")
    assert code == 2 and "some/model/config.json" in err


def test_a_gguf_file_is_planned_by_its_header(run, monkeypatch, tmp_path):
    """Its numbers are unpacked when it is loaded, so it counts as a dense model."""
    from minillm import gguf_file, gguf_model

    data = json.loads((config_json(tmp_path) / "config.json").read_text())
    monkeypatch.setattr(gguf_file, "GGUFFile", lambda path: path)
    monkeypatch.setattr(gguf_model, "hf_config", lambda file: data)
    (tmp_path / "a.gguf").write_bytes(b"GGUF")
    found = values(run, "--model", tmp_path / "a.gguf", "--gpu", "T4")
    assert found["kv_token"] == 128 and found["format"]["dtype"] == "fp16"


def test_check_prints_both_sides(run, monkeypatch):
    code, out, _ = run("--model", "tiny", "--check", "--json")
    (row,) = json.loads(out)["rows"]
    assert code == 0 and row["bytes_predicted"] == row["bytes_real"]
    assert {"tokens_per_s_predicted", "tokens_per_s_real", "off", "close"} <= set(row)


def test_a_measured_machine_is_planned_with_its_figures(run):
    found = values(run, "--model", "tiny", "--measure")
    assert found["device"]["measured"] and found["speed"]["ttft"] > 0


def test_a_plan_is_made_without_torch():
    code = """
import sys
from minillm import cli
for argv in (["--params", "70e9"], ["--model", "tiny", "--gpu", "phone", "--json"], ["--help"]):
    assert cli.run(["plan", *argv]) == 0
assert not {"torch", "transformers", "tokenizers", "huggingface_hub"} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
