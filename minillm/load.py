"""load(name): a model and its tokenizer, from wherever they are."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from minillm.config import ConfigError, ModelConfig
from minillm.files import PICKLES, LoadError, read_json, refuse_pickle

TINY = Path(__file__).parent / "assets" / "tiny"
SHRUNK = TINY.with_name("tiny_shrunk")
NAMED = ("tiny", "tiny-shrunk", "blank", "gemma3-270m")  # what messages and --help list
WAYS = (  # what --model takes, for messages
    f"{', '.join(NAMED)}, a folder with config.json and *.safetensors, a .gguf file or a hub id "
    "(owner/name)"
)
HUB_ID = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}")
DTYPES = {"fp64": "float64", "fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}


def load(name: str | Path, dtype: str = "auto", device: str = "auto"):
    """(Transformer, Tokenizer) of a model, ready to run: eval mode, no gradients.

    name: "tiny" (ships with the package), "tiny-shrunk" (the same with fewer heads, channels and
    layers), "blank" (random weights, for measuring speed), "gemma3-270m" (optional package), a
    folder with config.json and *.safetensors, a .gguf file, or a hub id such as Qwen/Qwen3-0.6B.
    The tokenizer is None where a folder has none.
    dtype: auto, fp64, fp32, bf16 or fp16. auto is fp32 on a CPU; on a GPU of capability 8.0 or
    more 16 bits as the file has it (bf16 for a float32 file), on an older one fp16.
    device: auto (cuda if there is one), cpu, cuda, cuda:1 ...
    Raises LoadError with one message that says what is wrong and what to do.
    """
    device = pick_device(device)
    chosen = pick_dtype(dtype, device)
    name = os.fspath(name)
    if name == "blank":
        return _blank(chosen, device)
    if name == "gemma3-270m":
        from minillm.gemma import gemma_file
        from minillm.gguf_cache import load_gguf

        return load_gguf(gemma_file, load_folder, chosen, device)
    if folder := {"tiny": TINY, "tiny-shrunk": SHRUNK}.get(name):
        if not (folder / "model.safetensors").exists():
            raise LoadError(f"the model {name} is not at {folder}: this copy of the project lacks "
                            "its files; get it again")  # fmt: skip
        return load_folder(folder, chosen, device)
    return _load_path(name, chosen, device)


def _load_path(name: str, dtype, device):
    if not name:  # an empty path would be the folder one stands in
        raise LoadError(f"the name of the model is empty: give {WAYS}")
    try:
        path = Path(name).expanduser()
        there, is_folder = os.path.lexists(path), path.is_dir()
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: ~ of nobody
        raise LoadError(f"{name[:200]!r} is no usable path: {error}") from None
    if is_folder:
        return load_folder(path, dtype, device)
    if path.suffix.lower() in PICKLES:
        refuse_pickle(path)
    if there and path.suffix.lower() == ".gguf":
        from minillm.gguf_cache import load_gguf

        return load_gguf(lambda: path, load_folder, dtype, device)
    if there:
        raise LoadError(f"{path} is neither a folder nor a .gguf file: give the folder that holds "
                        "config.json and *.safetensors")  # fmt: skip
    if HUB_ID.fullmatch(name) and not name.startswith("."):
        from minillm.hub import fetch

        return load_folder(fetch(name), dtype, device)
    raise LoadError(f"there is no model {name[:200]!r}: give {WAYS}")


def load_folder(folder: Path, dtype, device):
    """A folder in Hugging Face's layout -> (Transformer, Tokenizer or None)."""
    from minillm.tokenizer import load_tokenizer
    from minillm.weights import load_folder_weights

    data = read_json(config_file(folder))
    config = read_config(data, folder)
    tokenizer = None
    path = folder / "tokenizer.json"
    try:
        if os.path.lexists(path):
            tokenizer = load_tokenizer(folder, config.eos_token_ids, config.bos_token_id)
    except ConfigError as error:
        raise LoadError(f"{folder}: {error}") from None
    if tokenizer and tokenizer.backend.get_vocab_size(False) > config.vocab_size:
        raise LoadError(
            f"{path} has {tokenizer.backend.get_vocab_size(False)} tokens, the model "
            f"{config.vocab_size}: they do not belong together"
        )
    tie_if_absent = data.get("tie_word_embeddings") is None
    quantization = data.get("quantization_config")
    model = load_folder_weights(folder, config, tie_if_absent, dtype, device, quantization)
    if tokenizer:
        model.config = with_ends(model.config, tokenizer)
    return model, tokenizer


def config_file(folder: Path) -> Path:
    """config.json of a folder; a LoadError that says what to give where there is none."""
    path = folder / "config.json"
    try:
        path.lstat()
    except FileNotFoundError:
        raise LoadError(
            f"{path} does not exist, so {folder} is no model's folder: give {WAYS}"
        ) from None
    except OSError:  # whoever opens it says why
        pass
    return path


def read_config(data: dict, folder: Path) -> ModelConfig:
    """config.json -> ModelConfig; what is wrong in it is a LoadError that names the folder."""
    from minillm.hf_config import from_hf

    try:
        return from_hf(data)
    except ConfigError as error:
        raise LoadError(f"{folder / 'config.json'}: {error}") from None
    except (ValueError, TypeError, OverflowError, AttributeError, ZeroDivisionError) as error:
        raise LoadError(f"{folder / 'config.json'} cannot be used: {error}") from None


def with_ends(config: ModelConfig, tokenizer) -> ModelConfig:
    """The config with every end-of-text id that any of the files names."""
    inside = tuple(i for i in tokenizer.eos_token_ids if i < config.vocab_size)
    return replace(config, eos_token_ids=inside)


def pick_device(device):
    """ "auto" or a torch device name -> torch.device that exists."""
    import torch

    if str(device) == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(device)
    except (RuntimeError, TypeError):
        raise LoadError(f"device {device!r} is not one of auto, cpu, cuda, cuda:N") from None
    if device.type not in ("cpu", "cuda"):
        raise LoadError(f"device {str(device)!r} is not supported: cpu or cuda")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise LoadError(f"there is no device {device}: PyTorch sees "
                        f"{torch.cuda.device_count()} CUDA devices; use device='cpu'")  # fmt: skip
    return device


def pick_dtype(dtype: str, device):
    """A dtype name -> torch.dtype, or a function of the stored dtype where that decides."""
    import torch

    if dtype in DTYPES:
        return getattr(torch, DTYPES[dtype])
    if dtype != "auto":
        raise LoadError(f"dtype {dtype!r} is not one of auto, {', '.join(DTYPES)}")
    if device.type == "cpu":
        return torch.float32
    if torch.cuda.get_device_capability(device) < (8, 0):
        return torch.float16  # no bf16 units before Ampere, whatever is_bf16_supported says
    return lambda stored: torch.float16 if stored == torch.float16 else torch.bfloat16


def _blank(dtype, device):
    import torch

    from minillm.blank import blank_model
    from minillm.tokenizer import load_tokenizer

    tokenizer = load_tokenizer(TINY) if (TINY / "tokenizer.json").exists() else None
    dtype = dtype(torch.float32) if callable(dtype) else dtype
    model = blank_model(tokenizer.vocab_size if tokenizer else 1024, dtype, device)
    if tokenizer:
        model.config = replace(
            with_ends(model.config, tokenizer), bos_token_id=tokenizer.bos_token_id
        )
    return model, tokenizer
