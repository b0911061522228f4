"""A small, real LLM inference engine. Names are imported when they are first used."""

import sys
from importlib import import_module
from types import ModuleType

_HOME = {
    "load": "load", "save": "save", "LoadError": "files", "SaveError": "files",
    "ConfigError": "config", "ModelConfig": "config", "generate": "generate",
    "stream_text": "generate", "steps": "generate", "SamplingParams": "sampling",
    "Transformer": "model", "Tokenizer": "tokenizer", "StreamDecoder": "tokenizer",
    "StripCache": "cache.simple", "NoCache": "cache.simple",
}  # fmt: skip
__all__ = sorted(_HOME)


class _Package(ModuleType):
    """Keeps `minillm.generate` the function, although importing generate.py would rebind it."""

    def __setattr__(self, name, value):
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'minillm' has no attribute {name!r}")
    value = getattr(import_module(f"minillm.{_HOME[name]}"), name)
    setattr(sys.modules[__name__], name, value)
    return value


def __dir__():
    return sorted({*globals(), *__all__})


sys.modules[__name__].__class__ = _Package
