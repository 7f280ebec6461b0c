"""No compiled function computes with a stale value, whatever holds the value and however it is changed.

A table: holders x (bound anew, changed in place, array written to) x (number, array, nested). After each change the
compiled function gives what the function itself gives; or it has said once that it is not compiled.
"""

from __future__ import annotations

import argparse
import array
import collections
import contextvars
import ctypes
import dataclasses
import enum
import fractions
import functools
import io
import itertools
import json
import logging
import multiprocessing.sharedctypes
import operator
import os
import queue
import sys
import threading
import time
import types
import unittest.mock
import warnings
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit import JitWarning, jit

X = np.array([0.5, -1.5])
KINDS = ("number", "array", "nested")

Change = Callable[[Any], None]


class Scene(NamedTuple):
    """A function that reads a value, and the ways to make it read another one."""

    function: Callable[[Any], Any]
    changes: dict[str, Change]


# -- values


def value_of(kind: str, size: float) -> Any:
    """A number, an array, or a structure with an array in it."""
    if kind == "number":
        return size
    made = np.array([size, size + 1.0])
    return made if kind == "array" else {"deep": [made, size]}


def plain(value: Any) -> Any:
    """The number or array in a value."""
    return value["deep"][0] * value["deep"][1] if isinstance(value, dict) else value


def write(value: Any) -> None:
    """Change the memory of the array in a value."""
    (value["deep"][0] if isinstance(value, dict) else value)[:] = -7.0


# -- holders that are objects: made with a value, read by an expression, changed in place


class Bare:
    """An object with attributes."""

    lr: Any

    def __init__(self, lr: Any = None) -> None:
        if lr is not None:
            self.lr = lr


class Slotted:
    """An object with a slot."""

    __slots__ = ("lr",)

    def __init__(self, lr: Any) -> None:
        self.lr = lr


class PrivateSlot:
    """An object with a slot of a mangled name."""

    __slots__ = ("__lr",)

    def __init__(self, lr: Any) -> None:
        self.__lr = lr

    def get(self) -> Any:
        return self.__lr

    def put(self, lr: Any) -> None:
        self.__lr = lr


@dataclasses.dataclass
class Data:
    """A dataclass."""

    lr: Any


@dataclasses.dataclass(frozen=True)
class Frozen:
    """A dataclass that is frozen."""

    lr: Any


class Pair(NamedTuple):
    """A named tuple."""

    lr: Any
    other: int = 0


class WithProperty:
    """An object whose property reads another attribute."""

    def __init__(self, lr: Any) -> None:
        self._lr = lr

    @property
    def lr(self) -> Any:
        return self._lr

    @lr.setter
    def lr(self, value: Any) -> None:
        self._lr = value


class Lazy:
    """An object whose property is computed once."""

    def __init__(self, lr: Any) -> None:
        self._lr = lr

    @functools.cached_property
    def lr(self) -> Any:
        return self._lr


class Dynamic:
    """An object that answers for attributes that it does not have."""

    def __init__(self, lr: Any) -> None:
        self.table = {"lr": lr}

    def __getattr__(self, name: str) -> Any:
        return self.__dict__["table"][name]


class Indexed:
    """An object with items."""

    def __init__(self, lr: Any) -> None:
        self.parts = [lr]

    def __getitem__(self, index: int) -> Any:
        return self.parts[index]


class Callable_:
    """An object that is called."""

    def __init__(self, lr: Any) -> None:
        self.lr = lr

    def __call__(self) -> Any:
        return self.lr


class SubDict(dict[str, Any]):
    """A dictionary with attributes."""


class SubList(list[Any]):
    """A list with attributes."""


class SubTuple(tuple[Any, ...]):
    """A tuple with attributes."""


class SubArray(np.ndarray[Any, Any]):
    """An array with attributes."""


class SubFloat(float):
    """A number with attributes."""


class SubModule(types.ModuleType):
    """A module of a class of its own."""


class SubLocal(threading.local):
    """Attributes of each thread, in a class of its own."""


class SubError(Exception):
    """An error of the user's."""


class Node_:
    """An object that refers to itself."""

    def __init__(self, lr: Any) -> None:
        self.lr, self.me = lr, self


def with_attribute(made: Any, lr: Any) -> Any:
    made.lr = lr
    return made


def set_lr(held: Any, lr: Any) -> None:
    held.lr = lr


def set_item(key: Any) -> Callable[[Any, Any], None]:
    def put(held: Any, lr: Any) -> None:
        held[key] = lr

    return put


def frozen_set(held: Any, lr: Any) -> None:
    object.__setattr__(held, "lr", lr)


def object_array(lr: Any) -> Any:
    made = np.empty(2, dtype=object)
    made[0], made[1] = lr, "other"
    return made


def context_variable(lr: Any) -> Any:
    made: contextvars.ContextVar[Any] = contextvars.ContextVar("rate")
    made.set(lr)
    return made


class Referred:
    """A weak reference, and what keeps the object alive."""

    def __init__(self, lr: Any) -> None:
        kept = Bare(lr)
        self.reference = weakref.ref(kept)
        _KEPT.append(kept)


_KEPT: list[Any] = []


def keep(item: Any) -> Any:
    _KEPT.append(item)
    return item


def set_part(held: Any, lr: Any) -> None:
    held.clear()
    held.add(lr)


def rotate(held: Any, lr: Any) -> None:
    held.popleft()
    held.append(lr)


def record(lr: float) -> Any:
    return np.array([(lr, 1)], dtype=[("lr", "f8"), ("n", "i8")])


class Point(ctypes.Structure):
    """A structure of C's."""

    _fields_ = (("lr", ctypes.c_double),)


def pointer_to(lr: float) -> Any:
    return ctypes.pointer(keep(ctypes.c_double(lr)))


def pointed(held: Any, lr: float) -> None:
    held.contents.value = lr


def set_buffer(held: Any, lr: float) -> None:
    memoryview(held).cast("B")[:] = np.array([lr]).tobytes()


class Holder(NamedTuple):
    """An object that holds a value: how it is made, read, and changed in place."""

    new: Callable[[Any], Any]
    read: Callable[[Any], Any]
    put: Callable[[Any, Any], None] | None = set_lr
    kinds: tuple[str, ...] = KINDS


NUMBER = ("number",)
ARRAY = ("array",)

HOLDERS: dict[str, Holder] = {
    "object": Holder(Bare, lambda h: h.lr),
    "object, getattr": Holder(Bare, lambda h: getattr(h, "l" + "r")),
    "object, getattr with a default": Holder(Bare, lambda h: getattr(h, "lr", 1.0)),
    "object, vars": Holder(Bare, lambda h: vars(h)["lr"]),
    "object, __dict__": Holder(Bare, lambda h: h.__dict__["lr"]),
    "object, attrgetter": Holder(Bare, lambda h: operator.attrgetter("lr")(h)),
    "object in itself": Holder(Node_, lambda h: h.me.me.lr),
    "slots": Holder(Slotted, lambda h: h.lr),
    "slot of a mangled name": Holder(PrivateSlot, lambda h: h.get(), lambda h, v: h.put(v)),
    "dataclass": Holder(Data, lambda h: h.lr),
    "frozen dataclass": Holder(Frozen, lambda h: h.lr, frozen_set),
    "property": Holder(WithProperty, lambda h: h.lr),
    "cached property": Holder(Lazy, lambda h: h.lr),
    "__getattr__": Holder(Dynamic, lambda h: h.lr, lambda h, v: h.table.update(lr=v)),
    "__getitem__": Holder(Indexed, lambda h: h[0], lambda h, v: h.parts.__setitem__(0, v)),
    "__call__": Holder(Callable_, lambda h: h()),
    "named tuple": Holder(Pair, lambda h: h.lr, None),
    "tuple": Holder(lambda v: (v, 1), lambda h: h[0], None),
    "list": Holder(lambda v: [v], lambda h: h[0], set_item(0)),
    "list of lists": Holder(lambda v: [[v]], lambda h: h[0][0], lambda h, v: h[0].__setitem__(0, v)),
    "dict": Holder(lambda v: {"lr": v}, lambda h: h["lr"], set_item("lr")),
    "dict, get": Holder(lambda v: {"lr": v}, lambda h: h.get("lr"), set_item("lr")),
    "dict, order": Holder(
        lambda v: {"a": v, "b": 1.0},
        lambda h: next(iter(h.values())),
        lambda h, v: (h.pop("a"), h.__setitem__("a", v), h.__setitem__("b", v)),  # type: ignore[arg-type]
    ),
    "dict view": Holder(
        lambda v: keep({"lr": v}).values(), lambda h: next(iter(h)), lambda h, v: _KEPT[-1].update(lr=v)
    ),
    "deque": Holder(lambda v: collections.deque([v]), lambda h: h[0], set_item(0)),
    "rotated deque": Holder(lambda v: collections.deque([v]), lambda h: h[0], rotate),
    "default dict": Holder(lambda v: collections.defaultdict(float, lr=v), lambda h: h["lr"], set_item("lr")),
    "ordered dict": Holder(lambda v: collections.OrderedDict(lr=v), lambda h: h["lr"], set_item("lr")),
    "counter": Holder(lambda v: collections.Counter(lr=v), lambda h: h["lr"], set_item("lr")),
    "set": Holder(lambda v: {v}, lambda h: sum(h), set_part, NUMBER),
    "frozenset": Holder(lambda v: frozenset({v}), lambda h: sum(h), None, NUMBER),
    "set of objects": Holder(lambda v: {Bare(v)}, lambda h: next(iter(h)).lr, lambda h, v: set_lr(next(iter(h)), v)),
    "key of a dict": Holder(lambda v: {Bare(v): 1}, lambda h: next(iter(h)).lr, lambda h, v: set_lr(next(iter(h)), v)),
    "subclass of dict": Holder(lambda v: with_attribute(SubDict(), v), lambda h: h.lr),
    "subclass of list": Holder(lambda v: with_attribute(SubList(), v), lambda h: h.lr),
    "subclass of tuple": Holder(lambda v: with_attribute(SubTuple((1,)), v), lambda h: h.lr),
    "subclass of array": Holder(lambda v: with_attribute(np.ones(2).view(SubArray), v), lambda h: h.lr),
    "items of a subclass of array": Holder(
        lambda v: np.array([v]).view(SubArray), lambda h: float(h[0]), set_item(0), NUMBER
    ),
    "subclass of float": Holder(lambda v: with_attribute(SubFloat(1.0), v), lambda h: h.lr),
    "SimpleNamespace": Holder(lambda v: types.SimpleNamespace(lr=v), lambda h: h.lr),
    "argparse.Namespace": Holder(lambda v: argparse.Namespace(lr=v), lambda h: h.lr),
    "UserDict": Holder(lambda v: collections.UserDict(lr=v), lambda h: h["lr"], set_item("lr")),
    "UserList": Holder(lambda v: collections.UserList([v]), lambda h: h[0], set_item(0)),
    "ChainMap": Holder(lambda v: collections.ChainMap({}, {"lr": v}), lambda h: h["lr"], set_item("lr")),
    "ChainMap, behind": Holder(
        lambda v: collections.ChainMap({}, {"lr": v}), lambda h: h["lr"], lambda h, v: h.maps[1].update(lr=v)
    ),
    "mappingproxy": Holder(
        lambda v: types.MappingProxyType(keep({"lr": v})), lambda h: h["lr"], lambda h, v: _KEPT[-1].update(lr=v)
    ),
    "mappingproxy, more keys": Holder(
        lambda v: types.MappingProxyType(keep({"lr": v})),
        lambda h: h.get("other", h["lr"]),
        lambda h, v: _KEPT[-1].update(other=v),
    ),
    "weakref": Holder(lambda v: weakref.ref(keep(Bare(v))), lambda h: h().lr, lambda h, v: set_lr(h(), v)),
    "weakref in an object": Holder(
        Referred, lambda h: h.reference().lr, lambda h, v: set_lr(h.reference(), v)
    ),
    "weak proxy": Holder(lambda v: weakref.proxy(keep(Bare(v))), lambda h: h.lr),
    "WeakValueDictionary": Holder(
        lambda v: weakref.WeakValueDictionary({"a": keep(Bare(v))}), lambda h: h["a"].lr, lambda h, v: set_lr(h["a"], v)
    ),
    "threading.local": Holder(lambda v: with_attribute(threading.local(), v), lambda h: h.lr),
    "subclass of threading.local": Holder(lambda v: with_attribute(SubLocal(), v), lambda h: h.lr),
    "ContextVar": Holder(context_variable, lambda h: h.get(), lambda h, v: h.set(v)),
    "array.array": Holder(lambda v: array.array("d", [v]), lambda h: h[0], set_item(0), NUMBER),
    "array.array as an array": Holder(
        lambda v: array.array("d", [v, v]), lambda h: np.asarray(h), set_item(0), NUMBER
    ),
    "bytearray": Holder(lambda v: bytearray([int(v)]), lambda h: h[0], lambda h, v: set_item(0)(h, int(v)), NUMBER),
    "bytearray as an array": Holder(
        lambda v: bytearray(np.array([v])), lambda h: np.frombuffer(h)[0], set_buffer, NUMBER
    ),
    "memoryview": Holder(lambda v: memoryview(array.array("d", [v])), lambda h: h[0], set_item(0), NUMBER),
    "c_double": Holder(ctypes.c_double, lambda h: h.value, lambda h, v: setattr(h, "value", v), NUMBER),
    "array of C's": Holder(lambda v: (ctypes.c_double * 1)(v), lambda h: h[0], set_item(0), NUMBER),
    "structure of C's": Holder(Point, lambda h: h.lr, set_lr, NUMBER),
    "pointer of C's": Holder(pointer_to, lambda h: h.contents.value, pointed, NUMBER),
    "shared value": Holder(
        lambda v: multiprocessing.sharedctypes.Value("d", v),
        lambda h: h.value,
        lambda h, v: setattr(h, "value", v),
        NUMBER,
    ),
    "structured array": Holder(record, lambda h: float(h["lr"][0]), lambda h, v: h["lr"].__setitem__(0, v), NUMBER),
    "record array": Holder(
        lambda v: record(v).view(np.recarray), lambda h: float(h.lr[0]), lambda h, v: h.lr.__setitem__(0, v), NUMBER
    ),
    "record": Holder(lambda v: record(v)[0], lambda h: float(h["lr"]), set_item("lr"), NUMBER),
    "masked array": Holder(
        lambda v: np.ma.array([v, 1.0], mask=[False, True]), lambda h: float(h[0]), set_item(0), NUMBER
    ),
    "mask of a masked array": Holder(
        lambda v: np.ma.array([v, 1.0], mask=[False, False]), lambda h: float(h.sum()), lambda h, v: set_mask(h), NUMBER
    ),
    "matrix": Holder(lambda v: np.asmatrix([[v]]), lambda h: float(h[0, 0]), set_item((0, 0)), NUMBER),
    "object array": Holder(object_array, lambda h: h[0], set_item(0)),
    "array of strings": Holder(lambda v: np.array([str(v)]), lambda h: float(h[0]), set_item(0), NUMBER),
    "0-d array": Holder(lambda v: np.array(v), lambda h: h, set_item(()), NUMBER),
    "polynomial": Holder(
        lambda v: np.polynomial.Polynomial([v]),
        lambda h: float(h.coef[0]),
        lambda h, v: h.coef.__setitem__(0, v),
        NUMBER,
    ),
    "exception": Holder(lambda v: with_attribute(ValueError(), v), lambda h: h.lr),
    "arguments of an exception": Holder(ValueError, lambda h: h.args[0], lambda h, v: setattr(h, "args", (v,))),
    "exception of the user's": Holder(lambda v: with_attribute(SubError(), v), lambda h: h.lr),
    "number of an error of the system": Holder(
        lambda v: OSError(v, "text"), lambda h: h.errno, lambda h, v: setattr(h, "errno", v), NUMBER
    ),
    "synthetic module": Holder(lambda v: with_attribute(types.ModuleType("settings"), v), lambda h: h.lr),
    "synthetic module, getattr": Holder(
        lambda v: with_attribute(types.ModuleType("settings"), v), lambda h: getattr(h, "l" + "r")
    ),
    "synthetic module, default": Holder(
        lambda v: with_attribute(types.ModuleType("settings"), v),
        lambda h: getattr(h, "other", h.lr),
        lambda h, v: setattr(h, "other", v),
    ),
    "module of a class of its own": Holder(lambda v: with_attribute(SubModule("settings"), v), lambda h: h.lr),
    "module in a module": Holder(
        lambda v: with_attribute(types.ModuleType("package"), with_attribute(types.ModuleType("settings"), v)),
        lambda h: h.lr.lr,
        lambda h, v: set_lr(h.lr, v),
    ),
    "partial": Holder(
        lambda v: functools.partial(dict, lr=v), lambda h: h()["lr"], lambda h, v: h.keywords.update(lr=v)
    ),
    "positional argument of a partial": Holder(lambda v: functools.partial(plain, v), lambda h: h(), None),
    "bound method": Holder(lambda v: WithProperty(v).__class__.lr.fget.__get__(WithProperty(v)), lambda h: h(), None),  # type: ignore[attr-defined]
    "bound method of an object": Holder(
        lambda v: Callable_(v).__call__, lambda h: h(), lambda h, v: set_lr(h.__self__, v)
    ),
    "bound method of a dict": Holder(
        lambda v: {"lr": v}.get, lambda h: h("lr"), lambda h, v: h.__self__.update(lr=v)
    ),
    "method wrapper": Holder(
        lambda v: {"lr": v}.__getitem__, lambda h: h("lr"), lambda h, v: h.__self__.update(lr=v)
    ),
    "defaults": Holder(lambda v: defaulting(v), lambda h: h(), lambda h, v: setattr(h, "__defaults__", (v,))),
    "keyword defaults": Holder(
        lambda v: keyword_defaulting(v), lambda h: h(), lambda h, v: setattr(h, "__kwdefaults__", {"lr": v})
    ),
    "item of the keyword defaults": Holder(
        lambda v: keyword_defaulting(v), lambda h: h(), lambda h, v: h.__kwdefaults__.update(lr=v)
    ),
    "closure of a helper": Holder(
        lambda v: closing(v)[0], lambda h: h(), lambda h, v: setattr(h.__closure__[0], "cell_contents", v)
    ),
    "attribute of a function": Holder(lambda v: with_attribute(defaulting(1.0), v), lambda h: h.lr),
    "class attribute": Holder(lambda v: type("Settings", (), {"lr": v}), lambda h: h.lr),
    "class attribute, of an object": Holder(
        lambda v: type("Settings", (), {"lr": v})(), lambda h: h.lr, lambda h, v: setattr(type(h), "lr", v)
    ),
    "class attribute, shadowed": Holder(lambda v: type("Settings", (), {"lr": v})(), lambda h: h.lr),
    "class attribute, inherited": Holder(
        lambda v: type("Other", (type("Settings", (), {"lr": v}),), {}),
        lambda h: h.lr,
        lambda h, v: setattr(h.__base__, "lr", v),
    ),
    "class attribute, overridden": Holder(
        lambda v: type("Other", (type("Settings", (), {"lr": v}),), {}), lambda h: h.lr
    ),
    "method, replaced": Holder(
        lambda v: type("Settings", (), {"lr": lambda self: v})(),
        lambda h: h.lr(),
        lambda h, v: setattr(type(h), "lr", lambda self: v),
    ),
    "static method, replaced": Holder(
        lambda v: type("Settings", (), {"lr": staticmethod(lambda: v)}),
        lambda h: h.lr(),
        lambda h, v: setattr(h, "lr", staticmethod(lambda: v)),
    ),
    "class of an object": Holder(
        lambda v: type("Settings", (), {"lr": v})(),
        lambda h: h.lr,
        lambda h, v: setattr(h, "__class__", type("Others", (), {"lr": v})),
    ),
    "metaclass": Holder(
        lambda v: type("Meta", (type,), {"lr": v})("Settings", (), {}),
        lambda h: h.lr,
        lambda h, v: setattr(type(h), "lr", v),
    ),
    "descriptor": Holder(lambda v: described(v), lambda h: h.lr, lambda h, v: set_lr(type(h).__dict__["lr"], v)),
    "enum": Holder(
        lambda v: enum.Enum("Rates", {"LR": v if not isinstance(v, dict) else Hashed(v)}).LR,  # type: ignore[attr-defined]
        lambda h: unhashed(h.value),
        lambda h, v: setattr(h, "_value_", v),
        ("number",),
    ),
    "mock": Holder(lambda v: with_attribute(unittest.mock.Mock(), v), lambda h: h.lr),
    "queue": Holder(lambda v: queued(v), lambda h: h.queue[0], lambda h, v: h.queue.__setitem__(0, v)),
    "event": Holder(
        lambda v: threading.Event(), lambda h: 9.0 if h.is_set() else 2.0, lambda h, v: h.set(), NUMBER
    ),
    "fraction": Holder(lambda v: fractions.Fraction(v), lambda h: float(h), None, NUMBER),
    "slice": Holder(lambda v: slice(v), lambda h: h.stop, None, NUMBER),
    "range": Holder(lambda v: range(int(v)), lambda h: len(h), None, NUMBER),
    "iterator": Holder(lambda v: itertools.repeat(v), lambda h: next(h), None),
    "iterator in an object": Holder(lambda v: Bare(itertools.repeat(v)), lambda h: next(h.lr), None, NUMBER),
    "iterator in a list": Holder(lambda v: [itertools.repeat(v)], lambda h: next(h[0]), None, NUMBER),
    "generator": Holder(lambda v: (v for _ in itertools.count()), lambda h: next(h), None),
    "text in memory": Holder(
        lambda v: io.StringIO(str(v)), lambda h: float(h.getvalue()), lambda h, v: rewrite(h, v), NUMBER
    ),
    "cached function": Holder(lambda v: cached(v)[0], lambda h: h(), lambda h, v: recache(h, v)),
    "Variable": Holder(gt.Variable, lambda h: h * 1.0, lambda h, v: h.assign(v), ARRAY),
    "tensor": Holder(gt.tensor, lambda h: h * 1.0, None, ARRAY),
    "NumPy's number": Holder(np.float64, lambda h: h, None, NUMBER),
    "NumPy's integer": Holder(lambda v: np.int64(v), lambda h: h, None, NUMBER),
}  # fmt: skip


class Hashed(dict[str, Any]):
    """A dictionary with a hash."""

    __hash__ = object.__hash__  # type: ignore[assignment]


def unhashed(value: Any) -> Any:
    return value


def set_mask(held: Any) -> None:
    held[1] = np.ma.masked


def defaulting(v: Any) -> Any:
    def helper(lr: Any = v) -> Any:
        return lr

    return helper


def keyword_defaulting(v: Any) -> Any:
    def helper(*, lr: Any = v) -> Any:
        return lr

    return helper


def closing(v: Any) -> Any:
    def helper() -> Any:
        return v

    return (helper,)


def described(v: Any) -> Any:
    class Descriptor:
        def __init__(self, lr: Any) -> None:
            self.lr = lr

        def __get__(self, instance: Any, owner: Any) -> Any:
            return self.lr

    return type("Settings", (), {"lr": Descriptor(v)})()


def queued(v: Any) -> Any:
    made: queue.Queue[Any] = queue.Queue()
    made.put(v)
    return made


def rewrite(held: io.StringIO, v: Any) -> None:
    held.seek(0)
    held.truncate()
    held.write(str(v))


def cached(v: Any) -> Any:
    @functools.lru_cache
    def helper() -> Any:
        return v

    return (helper,)


def recache(held: Any, v: Any) -> None:
    held.__wrapped__.__closure__[0].cell_contents = v
    held.cache_clear()


def in_closure(holder: Holder, kind: str) -> Scene:
    """A function that reads a holder by a name of its enclosing function."""
    held = holder.new(value_of(kind, 2.0))
    read, put = holder.read, holder.put

    def function(x: Any) -> Any:
        return np.sum(x * plain(read(held)) * 3.0)

    def rebind(value: Any) -> None:
        nonlocal held
        held = holder.new(value)

    def change(value: Any) -> None:
        assert put is not None
        put(held, value)

    changes: dict[str, Change] = {"bound anew": rebind}
    if put is not None:
        changes["changed in place"] = change
    if kind != "number":
        changes["array written to"] = lambda value: write_in(read(held))
    return Scene(function, changes)


def write_in(value: Any) -> None:
    if isinstance(value, gt.Variable):
        value.assign(np.full(2, -7.0))
    elif isinstance(value, gt.Tensor):
        value._array[:] = -7.0
    else:
        write(value)


# -- ways to read a name that are no objects

SOURCES: dict[str, str] = {
    "global": "def function(x): return np.sum(x * plain(lr) * 3.0)",
    "global of a helper": "def helper(x): return x * plain(lr)\ndef function(x): return np.sum(helper(x) * 3.0)",
    "global of a helper's helper": (
        "def inner(): return plain(lr)\ndef helper(x): return x * inner()\n"
        "def function(x): return np.sum(helper(x) * 3.0)"
    ),
    "global of a method": (
        "class Model:\n    def rate(self): return plain(lr)\nmodel = Model()\n"
        "def function(x): return np.sum(x * model.rate() * 3.0)"
    ),
    "global of a class method": (
        "class Model:\n    @classmethod\n    def rate(cls): return plain(lr)\n"
        "def function(x): return np.sum(x * Model.rate() * 3.0)"
    ),
    "global of a lambda in a list": "fs = [lambda x: x * plain(lr)]\ndef function(x): return np.sum(fs[0](x) * 3.0)",
    "global of a lambda inside": "def function(x): return np.sum((lambda: plain(lr))() * x)",
    "global of a comprehension": "def function(x): return np.sum(sum([x * plain(lr) for _ in range(2)]))",
    "global of a decorated helper": (
        "import functools\ndef deco(f):\n    @functools.wraps(f)\n    def g(*a): return f(*a)\n    return g\n"
        "@deco\ndef helper(x): return x * plain(lr)\ndef function(x): return np.sum(helper(x))"
    ),
    "global of a cached helper": (
        "import functools\n@functools.lru_cache\ndef helper(): return plain(lr)\n"
        "def function(x): return np.sum(helper() * x)"
    ),
    "global of a single-dispatch helper": (
        "import functools\n@functools.singledispatch\ndef helper(a): return plain(lr)\n"
        "def function(x): return np.sum(helper(1) * x)"
    ),
    "global of a default factory": (
        "import collections\ndef function(x):\n    table = collections.defaultdict(lambda: plain(lr))\n"
        "    return np.sum(table['a'] * x)"
    ),
    "global of a generator inside": (
        "def rates():\n    yield plain(lr)\ndef function(x): return np.sum(next(rates()) * x)"
    ),
    "global of a metaclass": (
        "class Meta(type):\n    @property\n    def rate(cls): return plain(lr)\nclass Model(metaclass=Meta): pass\n"
        "def function(x): return np.sum(Model.rate * x)"
    ),
    "global of a class made inside": (
        "def function(x):\n    class Model:\n        rate = plain(lr)\n    return np.sum(Model.rate * x)"
    ),
    "global of a context manager": (
        "import contextlib\n@contextlib.contextmanager\ndef rate():\n    yield plain(lr)\n"
        "def function(x):\n    with rate() as r:\n        return np.sum(r * x)"
    ),
    "global of an exit of a context manager": (
        "class Rate:\n    def __enter__(self): return plain(lr)\n    def __exit__(self, *a): return None\n"
        "def function(x):\n    with Rate() as r:\n        return np.sum(r * x)"
    ),
    "globals()": "def function(x): return np.sum(x * plain(globals()['lr']))",
    "globals() by another name": "g = globals\ndef function(x): return np.sum(x * plain(g()['lr']))",
    "globals() in a table": "fs = {'g': globals}\ndef function(x): return np.sum(x * plain(fs['g']()['lr']))",
    "vars of the frame": "import sys\ndef function(x): return np.sum(x * plain(sys._getframe().f_globals['lr']))",
    "currentframe": (
        "import inspect\ndef function(x): return np.sum(x * plain(inspect.currentframe().f_globals['lr']))"
    ),
    "__globals__": "def function(x): return np.sum(x * plain(function.__globals__['lr']))",
    "eval": "def function(x): return np.sum(x * plain(eval('lr')))",
    "eval of a code object": "c = compile('lr', '', 'eval')\ndef function(x): return np.sum(x * plain(eval(c)))",
    "exec": (
        "def function(x):\n    out = {}\n    exec('r = lr', globals(), out)\n    return np.sum(x * plain(out['r']))"
    ),
    "builtins.eval": "import builtins\ndef function(x): return np.sum(x * plain(builtins.eval('lr')))",
    "import inside": "def function(x):\n    import {module}\n    return np.sum(x * plain({module}.lr))",
    "import of a name inside": "def function(x):\n    from {module} import lr\n    return np.sum(x * plain(lr))",
    "import inside under another name": (
        "def function(x):\n    import {module} as m\n    return np.sum(x * plain(m.lr))"
    ),
    "sys.modules": "import sys\ndef function(x): return np.sum(x * plain(sys.modules['{module}'].lr))",
    "import_module": (
        "import importlib\ndef function(x): return np.sum(x * plain(importlib.import_module('{module}').lr))"
    ),
    "__import__": "def function(x): return np.sum(x * plain(__import__('{module}').lr))",
    "module": "import {module}\ndef function(x): return np.sum(x * plain({module}.lr))",
    "module, given to a helper": (
        "import {module}\ndef helper(m): return plain(m.lr)\ndef function(x): return np.sum(x * helper({module}))"
    ),
    "module, in a list": "import {module}\nms = [{module}]\ndef function(x): return np.sum(x * plain(ms[0].lr))",
    "module, in an object": (
        "import {module}, types\nbox = types.SimpleNamespace(m={module})\n"
        "def function(x): return np.sum(x * plain(box.m.lr))"
    ),
    "module, vars": "import {module}\ndef function(x): return np.sum(x * plain(vars({module})['lr']))",
    "module, getattr": "import {module}\ndef function(x): return np.sum(x * plain(getattr({module}, 'l' + 'r')))",
    "function of a module": "import {module}\ndef function(x): return np.sum(x * {module}.rate())",
    "object of a module": "import {module}\ndef function(x): return np.sum(x * {module}.box.rate())",
}  # fmt: skip


_numbers = itertools.count()


def in_source(source: str, kind: str) -> Scene:
    """A function in a module of its own, which is also what the function may import."""
    name = f"holders_module_{next(_numbers)}"
    module = types.ModuleType(name)
    sys.modules[name] = module
    scope = vars(module)
    scope.update(np=np, plain=plain, lr=value_of(kind, 2.0))
    shared = "def rate(): return plain(lr)\nclass Box:\n    def rate(self): return plain(lr)\nbox = Box()\n"
    text = source.replace("{module}", name)
    exec(compile(shared + text, f"{name}.py", "exec"), scope)
    changes: dict[str, Change] = {"bound anew": lambda value: scope.update(lr=value)}
    if kind != "number":
        changes["array written to"] = lambda value: write(scope["lr"])
    return Scene(scope["function"], changes)


# -- the table


class Cell(NamedTuple):
    """One way to hold a value, and to change it."""

    holder: str
    kind: str
    change: str

    def scene(self) -> Scene:
        if self.holder in HOLDERS:
            return in_closure(HOLDERS[self.holder], self.kind)
        return in_source(SOURCES[self.holder], self.kind)


def cells() -> Iterator[Cell]:
    for name, holder in HOLDERS.items():
        for kind in holder.kinds:
            changes = ["bound anew", *(["changed in place"] if holder.put else [])]
            yield from (Cell(name, kind, change) for change in (*changes, *(["array written to"] * (kind != "number"))))
    for name in SOURCES:
        for kind in KINDS:
            changes = ["bound anew", *(["array written to"] * (kind != "number"))]
            yield from (Cell(name, kind, change) for change in changes)


def outcome(cell: Cell) -> str:
    """How a change is noticed: "re-read" as an input, "guarded" by a new trace, "uncompiled"; "stale" if it is not."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scene = cell.scene()
        step = jit(gt.value_and_grad(scene.function))
        for _ in range(3):
            step(X)
        scene.changes[cell.change](value_of(cell.kind, 9.0))
        for _ in range(3):
            found = step(X)
            reference = gt.value_and_grad(scene.function)(X)
            if not all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in zip(found, reference, strict=True)):
                return f"stale: {found}, not {reference}"
    messages = [str(warning.message) for warning in caught if warning.category is JitWarning]
    if step.stats.uncompiled:
        assert len(messages) == 1, messages
        assert "is not compiled" in messages[0] or "traced anew in each call" in messages[0]
        return "uncompiled"
    assert len(messages) <= any("traced anew" in message for message in messages), messages
    return "guarded" if step.stats.traces > 1 else "re-read"


@pytest.mark.parametrize("cell", list(cells()), ids=lambda cell: "-".join(cell))
def test_no_value_is_stale(cell: Cell) -> None:
    """After the change, the compiled function gives the value and the gradient of the function itself."""
    assert not outcome(cell).startswith("stale")


# -- what is no holder


def check(function: Callable[[Any], Any], change: Callable[[], Any]) -> Any:
    """The compiled function, after it was compared with the function itself before and after a change."""
    step = jit(gt.value_and_grad(function))
    for changed in (False, True):
        if changed:
            change()
        for _ in range(3):
            value, gradient = step(X)
            expected = gt.value_and_grad(function)(X)
            np.testing.assert_array_equal(value, expected[0])
            np.testing.assert_array_equal(gradient, expected[1])
    return step


class TestFunctions:
    """What a function is made of may be replaced."""

    def test_code(self) -> None:
        """Other code of the function itself, or of a helper, is traced."""

        def helper(x: Any) -> Any:
            return x * 2.0

        def other(x: Any) -> Any:
            return x * 9.0

        def function(x: Any) -> Any:
            return np.sum(helper(x))

        check(function, lambda: setattr(helper, "__code__", other.__code__))
        check(helper_sum, lambda: setattr(helper_sum, "__code__", other_sum.__code__))

    def test_built_in_name_that_becomes_a_global(self) -> None:
        """A global of the name of a built-in function takes its place, and so does another built-in function."""
        scope: dict[str, Any] = {"np": np, "__builtins__": dict(vars(__import__("builtins")))}
        exec("def function(x): return np.sum(x * abs(-2.0) * max(1.0, 2.0))", scope)
        check(scope["function"], lambda: scope.update(abs=lambda x: 9.0))
        check(scope["function"], lambda: scope["__builtins__"].update(max=min))

    def test_global_that_is_bound_later(self) -> None:
        """A name that is not there in the first call is looked for in each."""
        scope: dict[str, Any] = {"np": np}
        body = "    try:\n        return np.sum(x * rate)\n    except NameError:\n        return np.sum(x)"
        exec(f"def function(x):\n{body}", scope)
        check(scope["function"], lambda: scope.update(rate=9.0))

    def test_name_of_an_enclosing_function_that_is_bound_later(self) -> None:
        """A closed-over name that has no value in the first call is looked for in each."""

        rate = 2.0

        def function(x: Any) -> Any:
            try:
                return np.sum(x * rate)
            except NameError:
                return np.sum(x)

        def bind() -> None:
            nonlocal rate
            rate = 9.0

        del rate
        check(function, bind)

    def test_slot_that_is_set_later(self) -> None:
        """A slot without a value in the first call is looked at in each."""
        held = Slotted.__new__(Slotted)
        check(lambda x: np.sum(x * getattr(held, "lr", 2.0)), lambda: setattr(held, "lr", 9.0))

    def test_context_variable_that_is_set_later(self) -> None:
        """So is a context variable, one that was found by way of an object as well."""
        held: contextvars.ContextVar[float] = contextvars.ContextVar("held")
        box = Bare(held)
        check(lambda x: np.sum(x * box.lr.get(2.0)), lambda: held.set(9.0))

    def test_object_whose_array_is_in_a_dictionary_and_another_in_a_slot(self) -> None:
        """A copy that is made for a trace has the slots of the object, too."""

        class Both(Slotted):
            def __init__(self) -> None:
                super().__init__(2.0)
                self.table = np.array([1.0, 2.0])

        held = Both()
        step = check(lambda x: np.sum(x * held.lr * held.table), lambda: held.table.__setitem__(0, 5.0))
        assert step.stats.traces == 1
        assert step.stats.uncompiled == 0


def helper_sum(x: Any) -> Any:
    return np.sum(x * 2.0)


def other_sum(x: Any) -> Any:
    return np.sum(x * 9.0)


class TestTwoNames:
    """Two names for one array are two names."""

    @pytest.mark.parametrize("name", ["a", "b"])
    def test_one_of_them_is_bound_anew(self, name: str) -> None:
        """The other one keeps the array."""
        scope: dict[str, Any] = {"np": np}
        scope["a"] = scope["b"] = np.array([1.0, 2.0])
        exec("def function(x): return np.sum((x * a + b) ** 2)", scope)
        step = check(scope["function"], lambda: scope.update({name: np.array([5.0, 7.0])}))
        scope["b" if name == "a" else "a"][:] = -3.0
        np.testing.assert_array_equal(step(X)[1], gt.grad(scope["function"])(X))
        assert step.stats.uncompiled == 0

    def test_the_array_is_written_to(self) -> None:
        """Both names show it, without another trace."""
        a = b = np.array([1.0, 2.0])
        step = check(lambda x: np.sum((x * a + b) ** 2), lambda: a.__setitem__(0, 5.0))
        assert step.stats.traces == 1

    def test_two_arrays_become_one_and_two_again(self) -> None:
        """Arrays that are bound to one array, and to two arrays again, are read as they are in each call."""
        one, other = np.array([1.0, 2.0]), np.array([3.0, 4.0])
        a, b = one, other

        def function(x: Any) -> Any:
            return np.sum((x * a + b) ** 2)

        step = jit(gt.grad(function))
        for first, second in [(one, other), (one, one), (other, other), (other, one), (one, other)]:
            a, b = first, second
            for _ in range(2):
                np.testing.assert_array_equal(step(X), gt.grad(function)(X))

    @pytest.mark.parametrize("rebound", ["closure", "list", "object"])
    def test_in_different_holders(self, rebound: str) -> None:
        """One array in a closure, a list and an object: each of them may let go of it."""
        shared = np.array([1.0, 2.0])
        closed, listed, held = shared, [shared], Bare(shared)

        def change() -> None:
            nonlocal closed
            new = np.array([5.0, 7.0])
            if rebound == "closure":
                closed = new
            elif rebound == "list":
                listed[0] = new
            else:
                held.lr = new

        check(lambda x: np.sum((x * closed + listed[0]) ** 2 * held.lr), change)


class TestThreads:
    """What another thread does is seen."""

    @pytest.mark.parametrize("kind", KINDS)
    def test_value_that_another_thread_changes(self, kind: str) -> None:
        """A value that is changed between calls by another thread is read in the next call."""
        held = types.SimpleNamespace(lr=value_of(kind, 2.0))

        def change() -> None:
            thread = threading.Thread(target=lambda: set_lr(held, value_of(kind, 9.0)))
            thread.start()
            thread.join()

        check(lambda x: np.sum(x * plain(held.lr)), change)

    def test_value_of_each_thread(self) -> None:
        """A function that was compiled in one thread reads the values of the thread that calls it."""
        held = threading.local()
        held.lr = 2.0
        step = jit(lambda x: np.sum(x * held.lr))
        found: dict[float, Any] = {}

        def call(rate: float) -> None:
            held.lr = rate
            for _ in range(3):
                found[rate] = step(X)

        call(2.0)
        threads = [threading.Thread(target=call, args=(rate,)) for rate in (3.0, 4.0)]
        for thread in threads:
            thread.start()
            thread.join()
        assert found == {rate: np.sum(X * rate) for rate in (2.0, 3.0, 4.0)}
        assert step(X) == np.sum(X * 2.0)

    def test_value_of_each_context(self) -> None:
        """So it is with a context variable in another context."""
        held: contextvars.ContextVar[float] = contextvars.ContextVar("held", default=2.0)
        step = jit(lambda x: np.sum(x * held.get()))
        assert [step(X) for _ in range(3)] == [np.sum(X * 2.0)] * 3
        context = contextvars.copy_context()
        context.run(held.set, 9.0)
        assert context.run(step, X) == np.sum(X * 9.0)
        assert step(X) == np.sum(X * 2.0)


def _read_file(path: Any) -> dict[str, Callable[[], Any]]:
    """Ways to read a number from a file of text."""
    return {
        "open": lambda: float(open(path).read()),
        "with": lambda: _read(path),
        "pathlib": lambda: float(Path(path).read_text()),
        "json": lambda: json.load(open(path)),
        "loadtxt": lambda: float(np.loadtxt(path)),
        "fromfile": lambda: float(np.fromfile(path, sep=" ")[0]),
        "stat": lambda: float(os.stat(path).st_size),
        "getsize": lambda: float(os.path.getsize(path)),
        "exists": lambda: 1.0 if os.path.exists(path) else 2.0,
    }


def _read(path: Any) -> float:
    with open(path) as stream:
        return float(stream.read())


class TestWorld:
    """What is read of the world outside of the program is read in each call, by the function itself."""

    @pytest.mark.parametrize("way", list(_read_file("")))
    @pytest.mark.filterwarnings("ignore::ResourceWarning")
    def test_files(self, way: str, tmp_path: Path) -> None:
        """A file is read again; it is said once that the function is not compiled, with the line."""
        path = tmp_path / "rate.txt"
        path.write_text("2.0")
        read = _read_file(path)[way]
        with pytest.warns(JitWarning, match="not compiled") as caught:
            step = check(lambda x: np.sum(x * read()), lambda: path.write_text("9.25"))
        (message,) = [str(warning.message) for warning in caught if warning.category is JitWarning]
        assert "pass what it gives in as an array" in message
        assert step.stats.runs == 0

    @pytest.mark.parametrize("way", ["item", "get", "getenv", "in a helper", "imported"])
    def test_environment(self, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """An environment variable is read in each call."""
        monkeypatch.setenv("GRADTAPE_TEST_RATE", "2.0")
        environ = os.environ
        read: Any = {
            "item": lambda: os.environ["GRADTAPE_TEST_RATE"],
            "get": lambda: os.environ.get("GRADTAPE_TEST_RATE", "1"),
            "getenv": lambda: os.getenv("GRADTAPE_TEST_RATE", "1"),
            "in a helper": lambda: dict(os.environ)["GRADTAPE_TEST_RATE"],
            "imported": lambda: environ["GRADTAPE_TEST_RATE"],
        }[way]
        with pytest.warns(JitWarning, match="it reads the environment"):
            check(lambda x: np.sum(x * float(read())), lambda: monkeypatch.setenv("GRADTAPE_TEST_RATE", "9.0"))

    def test_clock(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each call has the time of the call, however the clock was come by."""
        now, box = time.time, types.SimpleNamespace(now=time.monotonic_ns)
        for read in (lambda: time.perf_counter_ns(), lambda: now(), lambda: box.now()):
            step = jit(lambda x, read=read: x * 0.0 + read())
            with pytest.warns(JitWarning, match="not compiled"):
                first = step(X)
            assert step(X)[0] >= first[0]
            assert step.stats.runs == 0

    def test_arguments_of_the_process(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A list of a module of Python's is compared as one of the user's is."""
        monkeypatch.setattr(sys, "argv", ["program", "2.0"])
        check(lambda x: np.sum(x * float(sys.argv[1])), lambda: sys.argv.__setitem__(1, "9.0"))
        check(lambda x: np.sum(x * float(sys.argv[1])), lambda: monkeypatch.setattr(sys, "argv", ["program", "7.0"]))

    @pytest.mark.parametrize("way", ["limit", "imported", "floating point errors", "printing", "logger", "level"])
    def test_settings_of_the_process(self, way: str) -> None:
        """A setting that a function of a library returns is read in each call, by whatever name the function has."""
        limit, logger = sys.getrecursionlimit, logging.getLogger("gradtape.test_holders")
        before = limit()
        logger.setLevel(logging.INFO)
        read, change = {
            "limit": (lambda: sys.getrecursionlimit(), lambda: sys.setrecursionlimit(before + 7)),
            "imported": (lambda: limit(), lambda: sys.setrecursionlimit(before + 9)),
            "floating point errors": (lambda: len(np.geterr()["under"]), lambda: np.seterr(under="print")),
            "printing": (lambda: np.get_printoptions()["precision"], lambda: np.set_printoptions(precision=3)),
            "logger": (lambda: logging.getLogger(logger.name).level, lambda: logger.setLevel(logging.ERROR)),
            "level": (lambda: 1.0 + logger.isEnabledFor(logging.INFO), lambda: logger.setLevel(logging.ERROR)),
        }[way]
        try:
            with np.errstate(), np.printoptions(), pytest.warns(JitWarning, match="not compiled, because it reads"):
                check(lambda x: np.sum(x * read()), change)
        finally:
            sys.setrecursionlimit(before)

    def test_settings_of_gradtape(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A setting of gradtape's own is compared in each call, as an attribute of any object is."""
        monkeypatch.setattr(gt.config, "locations", True)
        change = lambda: monkeypatch.setattr(gt.config, "locations", False)
        check(lambda x: np.sum(x * (1.0 + gt.config.locations)), change)

    def test_logger_that_is_written_to_is_no_reason(self) -> None:
        """A function that only writes to a logger is compiled."""

        def function(x: Any) -> Any:
            logging.getLogger("gradtape.test_holders").debug("called")
            return np.sum(x)

        step = jit(function)
        step(X)
        assert step.stats.uncompiled == 0

    def test_profiler_of_the_users(self) -> None:
        """A function of the user's that profiles calls goes on doing so, and the clock is seen nevertheless."""
        calls: list[str] = []
        sys.setprofile(lambda frame, event, argument: calls.append(event))
        try:
            with pytest.warns(JitWarning, match="the clock"):
                jit(lambda x: x * time.time())(X)
            assert sys.getprofile() is not None
        finally:
            sys.setprofile(None)
        assert "c_call" in calls


class TestMessages:
    """A function that is not compiled says which object is the reason, and where."""

    def test_holder_and_line(self) -> None:
        """The name, the way to the object, its type and the line of the user's."""
        model = Bare([itertools.repeat(2.0)])

        def function(x: Any) -> Any:
            return x * next(model.lr[0])

        with pytest.warns(JitWarning) as caught:
            jit(function)(X)
        (message,) = [str(warning.message) for warning in caught]
        assert "it reads 'lr' (as model.lr[0]), an iterator (itertools.repeat)" in message
        assert "next(model.lr[0])" in message
        assert "take the next item outside and pass it in" in message

    def test_it_is_said_once(self) -> None:
        """Calls with arrays of other shapes do not say it again."""
        held = weakref.proxy(keep(Bare(2.0)))
        step = jit(lambda x: x * held.lr)
        with pytest.warns(JitWarning, match="'held', a weak proxy") as caught:
            _ = [step(np.ones(count)) for count in (1, 2, 2, 3)]
        assert len(caught) == 1
        assert step.stats.uncompiled == 4

    def test_what_is_not_read_is_no_reason(self) -> None:
        """An iterator that is an attribute which the code does not name keeps nothing from being compiled."""
        held = Bare(2.0)
        held.batches = itertools.count()  # type: ignore[attr-defined]
        step = check(lambda x: np.sum(x * held.lr), lambda: set_lr(held, 9.0))
        assert step.stats.uncompiled == 0

    def test_file_that_is_written_to_is_no_reason(self) -> None:
        """A log that a function could write to is not read."""
        log = io.StringIO()

        def function(x: Any) -> Any:
            print("called", file=log)
            return np.sum(x)

        step = jit(function)
        step(X)
        assert step.stats.uncompiled == 0


def test_static_arguments_that_are_equal_and_not_the_same() -> None:
    """Objects that are equal to one another may hold different values; each of them is read."""

    class Named:
        def __init__(self, name: str, rate: float) -> None:
            self.name, self.rate = name, rate

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Named) and other.name == self.name

        def __hash__(self) -> int:
            return hash(self.name)

    step = jit(lambda x, settings: x * settings.rate, static_argnums=1)
    for rate in (2.0, 9.0, 4.0):
        np.testing.assert_array_equal(step(X, Named("a", rate)), X * rate)
    number = jit(lambda x, n: x * n[0], static_argnums=1)
    for n in (1, True, 1.0):
        assert number(np.array([3]), (n,)).dtype == (np.array([3]) * n).dtype
