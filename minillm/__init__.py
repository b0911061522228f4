"""A small, real LLM inference engine. Names are imported when they are first used."""

import sys
from importlib import import_module
from types import ModuleType

__version__ = "0.1.0"
_HOME = {
    "load": "load", "save": "save", "LoadError": "files", "SaveError": "files",
    "ConfigError": "config", "ModelConfig": "config", "generate": "generate",
    "stream_text": "generate", "steps": "generate", "SamplingParams": "sampling",
    "Transformer": "model", "Tokenizer": "tokenizer", "StreamDecoder": "tokenizer",
    "LLM": "engine.llm", "Completion": "engine.metrics", "EngineConfig": "config",
    "StripCache": "cache.simple", "NoCache": "cache.simple", "evaluate": "compress",
    "quantize": "compress.quant", "prune": "compress.prune", "shrink": "compress.shrink",
    "finetune": "compress.recover",
}  # fmt: skip
__all__ = sorted(_HOME)


class _Package(ModuleType):
    """Keeps `minillm.load` the function, also after something imported the file load.py.

    Python puts every imported submodule into its package under its own name, which would hide a
    function of that name; this package leaves those names to __getattr__.
    """

    def __setattr__(self, name: str, value) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'minillm' has no attribute {name!r}")
    home = f"minillm.{_HOME[name]}"
    if name == "evaluate":  # a module of functions: minillm.evaluate.perplexity(...)
        return import_module(f"{home}.{name}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})


sys.modules[__name__].__class__ = _Package
