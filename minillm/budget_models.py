"""What a plan is for: a model by name, by its config.json, or by its number of weights. No torch.

"blank" and a .gguf file are the exceptions: the code that knows their shapes imports torch.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from minillm.clock import num_parameters
from minillm.config import ConfigError, ModelConfig
from minillm.files import LoadError, parse_json, read_json
from minillm.load import HUB_ID, NAMED, SHRUNK, TINY, config_file, read_config

SHAPES = Path(__file__).parent / "assets" / "models.json"
MOST = 10**14  # weights; the largest open models stay far below


@dataclass(frozen=True)
class Model:
    """A shape, and where it is from."""

    name: str
    config: ModelConfig
    count: int | None = None  # a bare number of weights: then `config` is only a likeness
    quantized: bool = False  # its config.json says that the weights are coded already

    @property
    def parameters(self) -> int:
        return self.count or num_parameters(self.config)


def known_shapes() -> dict[str, dict]:
    """{short name: fields of config.json, and "source"} of the published models we ship."""
    return read_json(SHAPES)["models"]


def find_model(name: str) -> Model:
    """A name of NAMED, a known shape, a folder, a config.json or a hub id. Raises LoadError."""
    shapes = known_shapes()
    short = {fields["source"].lower(): key for key, fields in shapes.items()}
    key = short.get(name.lower(), name.lower())
    if own := {"tiny": TINY, "tiny-shrunk": SHRUNK}.get(name):
        return _read(name, own / "config.json")
    if name == "blank":
        return _blank()
    if key in shapes and not os.path.lexists(name):
        fields = {k: v for k, v in shapes[key].items() if k != "source"}
        return Model(key, read_config(fields, SHAPES.parent))
    try:
        path = Path(name).expanduser()
        if name and path.is_dir():  # an empty path would be the folder one stands in
            return _read(name, config_file(path))
        if path.is_file() and path.suffix == ".json":
            return _read(name, path)
        if path.is_file() and path.suffix.lower() == ".gguf":
            return _from_gguf(name, path)
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, LoadError):
            raise
        raise LoadError(f"{name[:200]!r} is no usable path: {error}") from None
    if HUB_ID.fullmatch(name) and not name.startswith(".") and not os.path.lexists(name):
        return _of(name, _from_hub(name), Path(name))
    raise LoadError(
        f"there is no model {name[:200]!r} to plan for: give "
        f"{', '.join(dict.fromkeys([*NAMED, *shapes]))}, a "
        "folder, a config.json, a .gguf file or a hub id (owner/name); or --params 7e9"
    )


def of_count(count: int, like: str | None = None) -> Model:
    """A model of so many weights; its attention is taken from a known shape, the nearest in size.

    like: the name of that shape. Raises ConfigError for a count out of range.
    """
    if not 1 <= count <= MOST:
        raise ConfigError(f"params must be from 1 to {MOST:.0e}, got {count:.4g}")
    if like is None:
        sizes = {key: find_model(key).parameters for key in known_shapes()}
        like = min(sizes, key=lambda key: max(sizes[key] / count, count / sizes[key]))
    return Model(like, find_model(like).config, count)


def _read(name: str, path: Path) -> Model:
    return _of(name, read_json(path), path.parent)


def _of(name: str, data: dict, folder: Path) -> Model:
    coded = isinstance(data, dict) and bool(data.get("quantization_config"))
    return Model(name, read_config(data, folder), quantized=coded)


def _blank() -> Model:
    from minillm.blank import blank_config

    vocab = _read("tiny", TINY / "config.json").config.vocab_size  # blank borrows its tokenizer
    return Model("blank", blank_config(vocab))


def _from_gguf(name: str, path: Path) -> Model:
    from minillm.gguf_file import GGUFFile
    from minillm.gguf_model import hf_config

    return Model(name, read_config(hf_config(GGUFFile(path)), path))  # it is unpacked


def _from_hub(name: str) -> dict:
    """The config.json alone: the copy on this disk, or a few kilobytes from the hub, one try."""
    from huggingface_hub import hf_hub_download, hf_hub_url
    from huggingface_hub.utils import build_hf_headers, get_session

    try:
        path = hf_hub_download(name, "config.json", local_files_only=True)
    except Exception:
        path = None
    if path is not None:
        return read_json(Path(path))
    try:
        url = hf_hub_url(name, "config.json")
        answer = get_session().get(url, headers=build_hf_headers(), timeout=10)
        answer.raise_for_status()
        text = answer.text
    except Exception as error:  # network, licence, no such model: the library has many kinds
        raise LoadError(
            f"the config.json of {name} is not on this disk and the hub did not give it "
            f"({type(error).__name__}: {' '.join(str(error).split())[:100]}). Known without a "
            f"network: {', '.join(known_shapes())}; or give a folder, a config.json, --params 7e9"
        ) from None
    return parse_json(text, Path(name) / "config.json")
