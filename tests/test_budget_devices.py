"""Known devices and their sources; sizes and counts as people write them."""

import pytest

from minillm import budget_devices
from minillm.budget_devices import (
    find_gpu,
    known_gpus,
    read_bytes,
    read_count,
    read_slack,
    this_machine,
)
from minillm.config import ConfigError


def test_every_figure_of_a_device_has_its_source():
    known = known_gpus()
    wanted = {"T4", "L4", "A10", "A100-40GB", "A100-80GB", "H100", "H200", "RTX-4090", "phone"}
    assert wanted < set(known)
    for gpu in known.values():
        assert f"{gpu.memory / 1e9:g} GB" in gpu.source
        speed = {f"{gpu.bandwidth / 1e9:,g} GB/s", f"{gpu.bandwidth / 1e12:g} TB/s"}
        assert any(text in gpu.source for text in speed)
        if gpu.peak is None:
            assert "no 16-bit peak" in gpu.source
        else:
            tera = gpu.peak / 1e12
            texts = [f"{tera:g} TFLOPS", f"{2 * tera:,.0f} TFLOPS with sparsity, half of it dense"]
            assert any(text in gpu.source for text in texts), gpu
    for text in ("NVIDIA A100 80GB", "a100-80gb", "A100 80"):
        assert find_gpu(text) == known["A100-80GB"]


def test_an_unknown_gpu_is_answered_with_all_known_ones():
    with pytest.raises(ConfigError, match="T4, L4, A10.*H200.*--memory 48GB"):
        find_gpu("B300")
    with pytest.raises(ConfigError, match="could be A100-40GB or A100-80GB"):
        find_gpu("A100")


@pytest.mark.parametrize(
    "text, value",
    [("80GB", 80e9), ("80 GiB", 80 * 2**30), ("1.5tb", 1.5e12), ("80e9", 80e9), ("512mb", 512e6)],
)
def test_sizes(text, value):
    assert read_bytes(text, "memory") == value


@pytest.mark.parametrize("text", ["70e9", "70B", "70000m", "0.07T"])
def test_counts(text):
    assert read_count(text, "params") == 70 * 10**9


BAD_SIZES = ["", "GB", "-80GB", "0", "nan", "inf", "1e400", "80 parsecs", "1e30", "8O GB", "--1"]


@pytest.mark.parametrize("text", BAD_SIZES)
def test_sizes_that_are_none(text):
    with pytest.raises(ConfigError, match="^memory must be"):
        read_bytes(text, "memory")


def test_slack():
    assert read_slack("10%", 80e9) == 8e9 and read_slack("2GB", 80e9) == 2e9
    assert read_slack("0", 80e9) == read_slack("0%", 80e9) == 0
    for text in ("100%", "80GB", "-1%", "nan%", "much", "8"):
        with pytest.raises(ConfigError, match="^slack"):
            read_slack(text, 80e9)


def test_this_machine_is_its_gpu_where_the_driver_tells_of_one(monkeypatch):
    said = {"text": "NVIDIA H100 80GB HBM3, 81559\n"}
    monkeypatch.setattr(budget_devices, "_nvidia_smi", lambda: said["text"])
    here = this_machine()
    assert here.memory == 81559 * 2**20 and here.bandwidth == find_gpu("H100").bandwidth
    said["text"] = "NVIDIA A100-SXM4-40GB, 40960\nNVIDIA T4, 15360\n"
    assert this_machine().peak == 312e12
    said["text"] = "NVIDIA GeForce RTX 4090, 24564\n"
    assert this_machine().bandwidth == 1008e9
    for name, mib in (
        ("Unheard Of", 10240),
        ("H100 PCIe", 81559),
        ("L40S", 46068),
        ("A10G", 23028),
    ):
        said["text"] = f"NVIDIA {name}, {mib}\n"
        assert (this_machine().memory, this_machine().bandwidth) == (mib * 2**20, None)
    monkeypatch.setattr(budget_devices.machine, "memory", lambda: (2**34, 2**33))
    for text in ("", "NVIDIA-SMI has failed because it could not talk to the driver\n"):
        said["text"] = text
        assert (this_machine().memory, this_machine().bandwidth) == (2**33, None)
    monkeypatch.setattr(budget_devices.machine, "memory", lambda: (0, 0))
    with pytest.raises(ConfigError, match="--memory 16GB"):
        this_machine()
