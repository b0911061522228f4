"""What travels between a child and its parent: exact types, and no lie about sizes gets through."""

import json
import math
import random
import struct

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from exercises.grading import wire

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
KEYS = st.text() | st.integers() | st.tuples(st.integers(), st.text())
PLAIN = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
    ),
    max_leaves=12,
)


def alike(one, two) -> bool:
    """Equal, of exactly the same types, NaN equal to itself."""
    if type(one) is not type(two):
        return False
    if isinstance(one, float):
        return (
            one == two
            and math.copysign(1, one) == math.copysign(1, two)
            or (one != one) & (two != two)
        )
    if isinstance(one, dict):
        return list(one) == list(two) and all(alike(one[k], two[k]) for k in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(two) and all(map(alike, one, two))
    return one == two


@given(PLAIN)
def test_plain_data_comes_back(value):
    assert alike(wire.decode(wire.encode(value)), value)


@pytest.mark.parametrize("name", wire.ITEM_BYTES)
def test_every_dtype_comes_back(name):
    dtype = getattr(torch, name)
    raw = torch.randint(0, 2, (3, 4)) if name == "bool" else torch.randint(-4, 9, (3, 4))
    for tensor in (raw.to(dtype), raw.to(dtype).T, raw.to(dtype)[1, 2], raw.to(dtype)[:0]):
        got = wire.decode(wire.encode(tensor))
        assert got.dtype == dtype and got.shape == tensor.shape
        bits = lambda x: x.contiguous().reshape(-1).view(torch.uint8)
        assert torch.equal(bits(got), bits(tensor))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.bool])
def test_any_strides_come_back(dtype):
    square = torch.randn(5, 5).to(dtype)
    views = [square[:1, ::5], square[:1, :1].T, square[0, ::5], square[:, :1], square[::2, ::3].T]
    for tensor in (*views, square[:, :1].expand(5, 3), square.as_strided((1, 1), (7, 3))):
        assert torch.equal(wire.decode(wire.encode(tensor)), tensor), tensor.stride()


def test_views_gradients_and_special_numbers():
    base = torch.randn(4, 6, requires_grad=True)
    nan = torch.tensor([torch.nan, torch.inf, -torch.inf, -0.0, 5e-324], dtype=torch.float64)
    value = {"strided": base[::2, 1::2], "expanded": torch.ones(1, 3).expand(2, 3), "nan": nan}
    got = wire.decode(wire.encode(value))
    for name, tensor in value.items():
        assert torch.equal(
            got[name].view(torch.uint8), tensor.detach().contiguous().view(torch.uint8)
        )
    assert not got["strided"].requires_grad
    got["nan"][0] = 1  # what comes back may be written to
    assert wire.decode(wire.encode(base.conj())).shape == (4, 6)


def test_numpy_and_sizes():
    array = np.arange(6, dtype=np.int16).reshape(2, 3).T
    got = wire.decode(wire.encode([array, np.float32(1.5), torch.zeros(2, 3).shape]))
    assert type(got[0]) is np.ndarray and got[0].dtype == np.int16 and (got[0] == array).all()
    assert type(got[1]) is np.float32 and got[1] == 1.5
    assert got[2] == (2, 3) and type(got[2]) is tuple
    assert wire.decode(wire.encode(torch.nn.Parameter(torch.ones(2)))).tolist() == [1, 1]


class Agreeable(torch.Tensor):
    pass


class List(list):
    def __eq__(self, other):
        return True


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (torch.zeros(2).as_subclass(Agreeable), "Agreeable"),
        (List([1]), "List"),
        ((i for i in "a"), "generator"),
        (object(), "object"),
        (len, "builtin_function_or_method"),
        (torch.float32, "dtype"),
        (torch.zeros(2, 2).to_sparse(), "Tensor"),
        (torch.zeros(2, device="meta"), "Tensor"),
        (np.ma.masked_array([1]), "MaskedArray"),
        (np.array(["a"]), "ndarray"),
    ],
)
def test_everything_else_is_only_named(value, name):
    got = wire.decode(wire.encode({"x": [value]}))["x"][0]
    assert type(got) is wire.Other and got.type.split(".")[-1] == name


def test_what_holds_itself_is_refused():
    loop = []
    loop.append(loop)
    with pytest.raises(wire.WireError, match="levels deep"):
        wire.encode(loop)


def test_sets_have_one_order():
    words = [str(i) for i in range(50)]
    assert wire.encode(set(words)) == wire.encode(set(reversed(words)))
    assert wire.decode(wire.encode(set(words))) == set(words)


def message(header, blobs: bytes = b"") -> bytes:
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return wire.MAGIC + struct.pack("<Q", len(raw)) + raw + blobs


HOSTILE = {
    "empty": b"",
    "other magic": b"XXXX" + bytes(20),
    "header longer than the message": wire.MAGIC + struct.pack("<Q", 2**63) + b"{}",
    "no JSON": message(b"{"),
    "no ASCII": message('{"v": "é", "b": []}'.encode()),
    "deep JSON": message(b"[" * 100_000),
    "deep but closed": message(b'{"b": [], "v": ' + b"[" * 200 + b"]" * 200 + b"}"),
    "no dict": message([1]),
    "other keys": message({"v": 1}),
    "part longer than the message": message({"v": None, "b": [5]}, b"abcd"),
    "part of negative length": message({"v": None, "b": [-1]}),
    "part of true length": message({"v": None, "b": [True]}, b"a"),
    "bytes left over": message({"v": None, "b": []}, b"abcd"),
    "no such part": message({"v": {"y": 1}, "b": [4]}, b"abcd"),
    "part minus one": message({"v": {"y": -1}, "b": [4]}, b"abcd"),
    "shape larger than its bytes": message({"v": {"T": [0, "float32", [2]]}, "b": [4]}, b"abcd"),
    "shape smaller": message({"v": {"T": [0, "float32", []]}, "b": [8]}, b"abcdefgh"),
    "negative shape": message({"v": {"T": [0, "float32", [-1, -1]]}, "b": [4]}, b"abcd"),
    "shape of an overflow": message({"v": {"T": [0, "int8", [2**32, 2**32]]}, "b": [0]}),
    "huge and empty": message({"v": {"T": [0, "int8", [2**70, 0]]}, "b": [0]}),
    "fractions of a shape": message({"v": {"T": [0, "int8", [2.0]]}, "b": [2]}, b"ab"),
    "true shape": message({"v": {"T": [0, "int8", [True]]}, "b": [1]}, b"a"),
    "many dimensions": message({"v": {"T": [0, "int8", [1] * 65]}, "b": [1]}, b"a"),
    "dtype that is a function": message({"v": {"T": [0, "load", [1]]}, "b": [4]}, b"abcd"),
    "dtype object": message({"v": {"N": [0, "object", [1]]}, "b": [8]}, bytes(8)),
    "numpy bfloat16": message({"v": {"N": [0, "bfloat16", [1]]}, "b": [2]}, bytes(2)),
    "number with a shape": message({"v": {"n": [0, "int8", [1]]}, "b": [1]}, b"a"),
    "too few facts": message({"v": {"T": [0]}, "b": [1]}, b"a"),
    "list as a key": message({"v": {"d": [[[], 1]]}, "b": []}),
    "no pair": message({"v": {"d": [[1]]}, "b": []}),
    "unknown kind": message({"v": {"z": 1}, "b": []}),
    "two kinds": message({"v": {"t": [], "s": []}, "b": []}),
    "kind ts": message({"v": {"ts": []}, "b": []}),
    "number of many digits": message(b'{"b": [], "v": ' + b"9" * 10_000 + b"}"),
    "no number": message({"v": {"i": "zz"}, "b": []}),
    "no float": message({"v": {"f": "x"}, "b": []}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_lies_are_refused(name):
    with pytest.raises(wire.WireError):
        wire.decode(HOSTILE[name])


@settings(max_examples=300)
@given(st.binary(max_size=200), st.integers(0, 2**32))
def test_broken_messages_raise_only_wire_errors(noise, seed):
    rng = random.Random(seed)
    good = bytearray(wire.encode({"a": [torch.ones(2, 3), (1, "x")], "b": b"yes"}))
    for _ in range(rng.randrange(1, 6)):
        good[rng.randrange(len(good))] = rng.randrange(256)
    for raw in (noise, wire.MAGIC + noise, bytes(good), bytes(good[: rng.randrange(len(good))])):
        try:
            wire.decode(raw)
        except wire.WireError:
            pass
