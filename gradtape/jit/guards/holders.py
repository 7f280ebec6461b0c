"""How the objects that a function reads hold values, and how each of these values is read again in a later call.

A `Place` is one value that was read, with the way to read it again. `state_of` says how an object keeps its state:

- in attributes, items or cells, each of which is a place of its own;
- in memory that can be compared as bytes: arrays that are no inputs of a program, `array.array`, `bytearray`, ctypes;
- not at all, because the type is immutable;
- in native code that cannot be asked for it (an iterator, a database connection). A function that reads such an object
  is not compiled.

Which of these it is depends on the native type behind the object's class: classes written in Python keep nothing
outside of `__dict__` and `__slots__`.
"""

from __future__ import annotations

import ctypes
import datetime
import functools
import io
import operator
import re
import sys
import types
import weakref
from collections import ChainMap, UserDict, UserList, deque, namedtuple
from collections.abc import Callable, Iterator
from contextvars import ContextVar, Token
from enum import Enum, auto
from threading import Lock, RLock, local
from typing import Any

import numpy as np

from gradtape.core.recording import Recorder
from gradtape.core.tensor import Tensor
from gradtape.jit.ir.program import NUMERIC_KINDS
from gradtape.numpy_dispatch.protocols import plain_array_types


class Place:
    """Where a value was found: an item of a list or dictionary (of globals, of attributes), or a closure's cell."""

    __slots__ = ("container", "key", "value")

    def __init__(self, container: Any, key: Any, value: Any) -> None:
        self.container, self.key, self.value = container, key, value

    def read(self) -> Any:
        """The current value; raises one of `GONE` if there is none."""
        return self.container.cell_contents if self.key is None else self.container[self.key]

    def expression(self, name: Callable[[Any], str]) -> str:
        """The source of an expression for `read`; `name` gives the name of an object in that source."""
        container = name(self.container)
        return f"{container}.cell_contents" if self.key is None else f"{container}[{name(self.key)}]"

    def condition(self, name: Callable[[Any], str]) -> str:
        """The source of an expression that is true if the value is still there."""
        return f"{self.expression(name)} is {name(self.value)}"


class Attribute(Place):
    """An attribute of an object, read with `getattr`."""

    __slots__ = ()

    def read(self) -> Any:
        """The current value of the attribute."""
        return getattr(self.container, self.key)

    def expression(self, name: Callable[[Any], str]) -> str:
        """The source of the attribute access."""
        return f"{name(self.container)}.{self.key}"


class Result(Place):
    """The result of a call without arguments: of a weak reference, or of a context variable's `get`."""

    __slots__ = ()

    def read(self) -> Any:
        """The current result of the call."""
        return self.container()

    def expression(self, name: Callable[[Any], str]) -> str:
        """The source of the call."""
        return f"{name(self.container)}()"


class Scope:
    """The globals of a function, with the built-in names as a fallback."""

    __slots__ = ("builtins", "globals")

    def __init__(self, names: dict[str, Any], known: dict[str, Any]) -> None:
        self.globals, self.builtins = names, known

    def __getitem__(self, name: str) -> Any:
        return self.globals[name] if name in self.globals else self.builtins[name]

    def __contains__(self, name: str) -> bool:
        return name in self.globals or name in self.builtins


class Missing(Place):
    """A name that a namespace does not have; `value` is False."""

    __slots__ = ()

    def read(self) -> Any:
        """Whether the namespace has the name now."""
        return self.key in self.container

    def condition(self, name: Callable[[Any], str]) -> str:
        """The source of an expression that is true as long as the name is missing."""
        return f"{name(self.key)} not in {name(self.container)}"


UNBOUND = object()
"""Stands for what a cell, a slot or a context variable without a value holds."""
GONE = (LookupError, ValueError, AttributeError)
"""What reading a place raises that is not there any more."""

PLAIN_SCALARS = frozenset({type(None), bool, int, float, complex, str, bytes})


def is_scalar(value: Any) -> bool:
    """Whether a value is immutable and compared by its bits: a number, a string, a dtype."""
    return type(value) in PLAIN_SCALARS or (isinstance(value, np.generic | np.dtype) and not isinstance(value, np.void))


def same_scalar(value: Any, before: Any) -> bool:
    """Whether two values are numbers or strings of one type, and the same to the bit."""
    if type(value) is not type(before) or not is_scalar(value):
        return False
    if isinstance(value, float | complex | np.generic):
        return np.asarray(value).tobytes() == np.asarray(before).tobytes()
    return bool(value == before)


def is_leaf(value: Any) -> bool:
    """Whether a value becomes an input of the program: an array of numbers, a tensor or a Variable."""
    if type(value) is np.ndarray or type(value) in plain_array_types:
        return value.dtype.kind in NUMERIC_KINDS
    return isinstance(value, Tensor | np.inexact)


def array_behind(value: Any) -> Any:
    """The array of a leaf: a tensor's own, and NumPy's own class of a kind of arrays that is no more than an array."""
    if isinstance(value, Tensor):
        return value._array
    return np.asarray(value) if type(value) in plain_array_types else value


class State(Enum):
    """How an object keeps its state."""

    PARTS = auto()  # attributes, items, cells
    BYTES = auto()  # memory
    NONE = auto()  # it has none, or none that concerns a function
    HIDDEN = auto()  # native code


LRU_CACHE: Any = type(functools.lru_cache(lambda: None))
DICT_VIEWS: Any = (type({}.keys()), type({}.values()), type({}.items()))
BOUND = (types.BuiltinMethodType, types.MethodWrapperType)
FIELD: Any = type(vars(namedtuple("_Fields", "field"))["field"])  # of a named tuple: it has a position and a text
GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator)
COPIED = (types.SimpleNamespace, types.MappingProxyType, UserDict, UserList, ChainMap)
"""Classes of Python's library whose arrays become inputs: traced tensors can be in the place of these."""
NAMED_ONLY = ("logging", "unittest", "asyncio", "_pytest")
"""Packages with objects that refer to much of the process: only attributes that the code names are compared."""

_PARTS: tuple[Any, ...] = (
    *(types.FunctionType, types.MethodType, types.MappingProxyType, types.SimpleNamespace, functools.partial),
    *(list, tuple, dict, set, frozenset, deque, weakref.ref, local, ContextVar, BaseException, LRU_CACHE),
    *(property, classmethod, staticmethod, *DICT_VIEWS, *BOUND),
)
_IMMUTABLE: tuple[Any, ...] = (
    *(int, float, complex, str, bytes, range, slice, type(...), type(NotImplemented), types.CodeType, type),
    *(datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo),
    *(re.Pattern, re.Match, operator.itemgetter, operator.attrgetter, operator.methodcaller),
    *(types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType),
    *(types.GetSetDescriptorType, types.MemberDescriptorType, FIELD, types.GenericAlias, types.UnionType, Token),
    *(type(Lock()), type(RLock()), np.ufunc, np.dtype, np.generic, super),
)
_IMMUTABLE_NAMES = frozenset(
    {"decimal.Decimal", "zoneinfo.ZoneInfo", "_struct.Struct", "uuid.UUID", "uarray._Function"}
)
_NATIVE = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)
_FUNCTIONS = ("cython_function_or_method", "fortran", "_ArrayFunctionDispatcher", "builtin_function_or_method")
_READING = frozenset({"read", "readline", "readlines", "readinto", "getvalue", "getbuffer", "tell", "peek"})


def native_base(kind: type) -> type:
    """The class nearest to `kind` that is not written in Python, or `object` where all of them are.

    >>> from collections import OrderedDict, UserDict
    >>> native_base(UserDict)
    <class 'object'>
    >>> native_base(type("Settings", (dict,), {}))
    <class 'dict'>
    """
    for base in kind.__mro__:
        for name, member in vars(base).items():
            if isinstance(member, _NATIVE) and member.__objclass__ is base:
                return base
            is_own = isinstance(member, types.GetSetDescriptorType) and member.__objclass__ is base
            if is_own and name not in ("__dict__", "__weakref__"):
                return base
    return object


def state_of(value: Any) -> State:
    """How an object keeps the state that a function may read."""
    kind = type(value)
    if is_scalar(value) or kind is object or isinstance(value, (Recorder, types.ModuleType, *GENERATORS)):
        return State.NONE
    if isinstance(value, np.ndarray):
        return State.PARTS if value.dtype == object else State.HIDDEN if value.dtype.hasobject else State.BYTES
    if isinstance(value, np.void):
        return State.HIDDEN if value.dtype.hasobject else State.BYTES
    if kind is weakref.ProxyType or kind is weakref.CallableProxyType:
        return State.HIDDEN
    if isinstance(value, _PARTS) or hasattr(kind, "traced_function"):
        return State.PARTS
    base = native_base(kind)
    if base is object:
        return State.PARTS
    if issubclass(base, _IMMUTABLE) or f"{base.__module__}.{base.__name__}" in _IMMUTABLE_NAMES:
        return State.PARTS if hasattr(value, "__dict__") else State.NONE
    if base.__name__ in _FUNCTIONS or is_of_library(value):
        return State.NONE
    if base.__module__ == "_ctypes":
        return State.BYTES if _has_no_pointer(kind) else State.HIDDEN
    try:
        memoryview(value).release()
    except (TypeError, ValueError, BufferError):
        return State.HIDDEN
    return State.BYTES


def is_of_library(value: Any) -> bool:
    """Whether a value is a global of the module that its class is from: `os.environ`, `scipy.stats.norm`."""
    module = sys.modules.get(type(value).__module__)
    return module is not None and any(value is member for member in list(vars(module).values()))


def _has_no_pointer(kind: Any) -> bool:
    if issubclass(kind, ctypes.Array):
        return _has_no_pointer(kind._type_)
    if issubclass(kind, ctypes.Structure | ctypes.Union):
        fields = [field for base in kind.__mro__ for field in vars(base).get("_fields_", ())]
        return all(_has_no_pointer(field[1]) for field in fields)
    return issubclass(kind, ctypes._SimpleCData) and kind._type_ in "cbBhHiIlLqQfdg?"


def may_be_read(stream: io.IOBase, names: set[str]) -> bool:
    """Whether a function whose code mentions these `names` may read a file. Writing to one needs no guard."""
    try:
        return stream.readable() and not (stream.writable() and _READING.isdisjoint(names))
    except ValueError:  # closed
        return False


_ALIGNED = 16
_CHUNK = 1 << 18
"""Bytes of an array that are compared at once: both parts stay in the cache."""


def content(value: Any) -> bytes:
    """The bytes of an array, tensor or other buffer, with its type, shape and dtype."""
    if isinstance(value, Tensor):
        value = value._array
    if isinstance(value, np.ndarray | np.void):
        array: np.ndarray[Any, Any] = np.asarray(value)
        return _header(value, array) + array.tobytes()
    with memoryview(value) as view:
        return repr((type(value), view.format, view.shape)).encode() + view.tobytes()


def _header(value: Any, array: np.ndarray[Any, Any]) -> bytes:
    """The type, shape and dtype of an array, as bytes in a number that keeps what follows aligned."""
    text = repr((type(value), array.shape, array.dtype.descr, array.dtype.str)).encode()
    return text.ljust(-(-len(text) // _ALIGNED) * _ALIGNED)


def has_content(value: Any, before: bytes) -> bool:
    """Whether `content(value)` is `before`. A large array is not copied for it, and read up to the first difference.

    >>> import numpy as np
    >>> from gradtape.jit.guards.holders import content, has_content
    >>> x = np.zeros(100_000)
    >>> before = content(x)
    >>> x[-1] = -0.0
    >>> has_content(np.zeros(100_000), before), has_content(x, before)
    (True, False)
    """
    array = value._array if isinstance(value, Tensor) else value
    plain = isinstance(array, np.ndarray) and array.flags.c_contiguous and array.flags.aligned
    if not plain or array.nbytes < _CHUNK or array.nbytes % 8 or array.dtype.hasobject:
        return content(value) == before
    header = _header(array, np.asarray(array))
    if len(before) != len(header) + array.nbytes or not before.startswith(header):
        return False
    now = np.asarray(array).reshape(-1).view(np.uint64)
    then = np.frombuffer(before, np.uint64, offset=len(header))
    compare = _find_memcmp()
    if compare is not None:
        return bool(compare(now.ctypes.data, then.ctypes.data, array.nbytes) == 0)
    step = _CHUNK // 8
    return all(
        np.array_equal(now[start : start + step], then[start : start + step]) for start in range(0, len(now), step)
    )


@functools.cache
def _find_memcmp() -> Any:
    """The `memcmp` of the C library, which reads memory in one pass; None where the process does not export it."""
    try:
        found = ctypes.CDLL(None).memcmp
    except (AttributeError, OSError, TypeError):  # Windows has no handle of the process
        return None
    found.argtypes, found.restype = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t), ctypes.c_int
    return found


def items(container: Any) -> Iterator[Place]:
    """The items of a sequence or mapping."""
    pairs = container.items() if isinstance(container, dict | types.MappingProxyType) else enumerate(container)
    for key, value in list(pairs):  # at once: another thread may be changing it
        yield Place(container, key, value)


def cell_place(cell: types.CellType) -> Place:
    """The place of a name of an enclosing function, which may have no value yet."""
    try:
        return Place(cell, None, cell.cell_contents)
    except ValueError:
        return Result(functools.partial(contents, cell), None, UNBOUND)


def contents(cell: types.CellType) -> Any:
    """The value in a closure cell; `UNBOUND` if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return UNBOUND


def parts_of(item: Any) -> Iterator[Place]:
    """The places in an object other than a function: items, attributes, the target of a reference."""
    if isinstance(item, types.MethodType):
        yield from items((item.__func__, item.__self__))
    elif isinstance(item, BOUND):
        if not isinstance(item.__self__, types.ModuleType | type | None):
            yield from items((item.__self__,))
    elif hasattr(type(item), "traced_function"):  # a compiled function: in a trace, it is the function itself
        yield from items((item.traced_function,))
    elif isinstance(item, functools.partial):
        yield from items((item.func, item.args, item.keywords))
    elif isinstance(item, weakref.ref):
        yield Result(item, None, item())
    elif isinstance(item, ContextVar):
        read = functools.partial(item.get, UNBOUND)
        yield Result(read, item.name, read())
    elif isinstance(item, local):
        yield from (Attribute(item, name, value) for name, value in list(vars(item).items()))
    elif isinstance(item, DICT_VIEWS):
        yield Attribute(item, "mapping", item.mapping)
    elif isinstance(item, set | frozenset):
        yield from items(tuple(item))
    elif isinstance(item, list | tuple | dict | deque | types.MappingProxyType):
        yield from items(item)
    elif isinstance(item, np.ndarray):
        yield from (Place(item, index, item[index]) for index in np.ndindex(item.shape))
    elif isinstance(getattr(item, "__dict__", None), dict):
        yield from items(vars(item))


def further_parts(item: Any) -> Iterator[Place]:
    """Further places in an object: attributes of lists, arrays and native types, and its class."""
    if isinstance(item, dict) and hasattr(item, "default_factory"):
        yield Attribute(item, "default_factory", item.default_factory)
        keys: list[Any] = [key for key in item if not is_scalar(key)]
        yield from items(tuple(keys))
    elif isinstance(item, dict | types.MappingProxyType):
        yield from items(tuple([key for key in item if not is_scalar(key)]))
    elif isinstance(item, BaseException):
        for base in type(item).__mro__:
            for name, member in vars(base).items():
                native = isinstance(member, types.GetSetDescriptorType | types.MemberDescriptorType)
                if native and not name.startswith("_") and hasattr(item, name):
                    yield Attribute(item, name, getattr(item, name))
    elif isinstance(item, property):
        yield from items((item.fget, item.fset))
    elif isinstance(item, classmethod | staticmethod):
        yield from items((item.__func__,))


def slot_names(kind: type) -> tuple[str, ...]:
    """The names of the attributes that objects of a class keep in slots."""
    if issubclass(kind, Tensor):
        return ()
    found: list[str] = []
    for base in kind.__mro__:
        slots = vars(base).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            private = name.startswith("__") and not name.endswith("__")
            attribute = f"_{base.__name__.lstrip('_')}{name}" if private else name
            if isinstance(vars(base).get(attribute), types.MemberDescriptorType):
                found.append(attribute)
    return tuple(found)
