"""How many bytes of numbers an object of an answer holds on to, wherever it keeps them."""

from __future__ import annotations

import sys
from gc import get_referents
from types import CodeType, ModuleType

import torch

FEW = 32  # bytes of single numbers that are sizes and flags, no weights
STORAGES = (torch.UntypedStorage, torch.TypedStorage)


class Held:
    """before = Held(answer); thing = answer(...); before.bytes_of(thing)."""

    def __init__(self, answer):
        self.home = getattr(answer, "__module__", None)
        self.before = self._globals()

    def bytes_of(self, thing) -> int:
        """Bytes that `thing` holds, and those that the answer's module has held since."""
        more = {k: v for k, v in self._globals().items() if self.before.get(k, (0,))[0] != v[0]}
        found = more | self._walk(thing)
        loose = sum(size for place, (size, _) in found.items() if isinstance(place, tuple))
        blocks = sum(size for place, (size, _) in found.items() if not isinstance(place, tuple))
        return blocks + loose * (loose > FEW)

    def _globals(self) -> dict:
        values = vars(sys.modules[self.home]) if self.home in sys.modules else {}
        return self._walk([v for name, v in values.items() if not name.startswith("__")])

    def _walk(self, root) -> dict:
        """{where the numbers lie: (bytes, what holds them)}; a memory that is shared counts once.

        What is held: all that Python's garbage collector would find, which are attributes, slots,
        closures, defaults and caches too. Other modules and their classes are not the answer's.
        """
        found, seen, todo = {}, {}, [root]
        while todo:
            value = todo.pop()
            if id(value) in seen or self._foreign(value):
                continue
            seen[id(value)] = value  # kept alive: a freed one would lend its id to another
            parts = get_referents(value)
            if numbers := sum(map(_number, parts)):
                found["numbers", id(value)] = numbers, value
            place, size, owners = _memory(value)
            if size:
                found[place] = size, value
            todo += parts + owners
        return found

    def _foreign(self, value) -> bool:
        if isinstance(value, type):
            return value.__module__ != self.home
        is_globals = type(value) is dict and "__builtins__" in value
        return is_globals or isinstance(value, (ModuleType, CodeType, str))


def _number(value) -> int:
    """Bytes of one Python number, as few as could hold it: a list of columns is no matrix."""
    if isinstance(value, int):
        return max(1, (value.bit_length() + 7) // 8)
    return 4 if isinstance(value, float) else 8 if isinstance(value, complex) else 0


def _memory(value) -> tuple[object, int, list]:
    """A block of numbers -> (its address, bytes, what else owns it)."""
    if isinstance(value, torch.Tensor) and value.layout != torch.strided:
        return None, 0, [value.to_dense()]
    if isinstance(value, torch.Tensor):
        value = value.untyped_storage()
    if isinstance(value, STORAGES):
        return value.data_ptr(), value.nbytes(), []
    if hasattr(value, "getbuffer") and not isinstance(value, type):  # io.BytesIO
        return None, 0, [value.getbuffer()]
    if isinstance(value, memoryview):
        return None, 0, [value.obj]
    array = getattr(value, "__array_interface__", None)  # NumPy's
    if isinstance(array, dict) and getattr(value, "base", None) is not None:
        return None, 0, [value.base]
    try:
        with memoryview(value) as view:
            return array["data"][0] if isinstance(array, dict) else id(value), view.nbytes, []
    except TypeError:
        return None, 0, []
