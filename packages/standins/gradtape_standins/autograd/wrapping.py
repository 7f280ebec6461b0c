"""NumPy's names over gradtape: NumPy's own functions, which find gradtape by themselves, and what they leave out.

Given plain arrays the functions are NumPy's and return plain arrays. Given a traced tensor they return a tensor, unless
nothing can be differentiated in what they return (`argmax`, `sign`, comparisons): then that is a plain array too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, MutableMapping
from types import ModuleType
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import Tensor
from gradtape_standins.autograd.box_conversion import getval, holds_tensor, settled
from gradtape_standins.autograd.primitives import applied, is_traced, primitive_jvps, primitive_vjps

_TAKES_SEQUENCES = frozenset(
    {
        "apply_over_axes",
        "block",
        "broadcast_arrays",
        "choose",
        "column_stack",
        "concat",
        "concatenate",
        "dstack",
        "einsum",
        "einsum_path",
        "gradient",
        "histogramdd",
        "hstack",
        "ix_",
        "lexsort",
        "meshgrid",
        "multi_dot",
        "piecewise",
        "select",
        "stack",
        "vstack",
    }
)
"""Functions that look into the lists that they are given."""

_JOINS = frozenset({"column_stack", "concat", "concatenate", "dstack", "hstack", "stack", "vstack"})
"""Those among them that join arrays, each of which may be nested lists of numbers."""

_NOT_ASKED = frozenset(
    {
        "array",
        "asanyarray",
        "asarray",
        "ascontiguousarray",
        "asfortranarray",
        "fromfunction",
        "fromiter",
        "full",
    }
)
"""Functions by which NumPy asks nobody: gradtape's stand in for them when there are tensors."""


def wrap_namespace(old: MutableMapping[str, Any], new: MutableMapping[str, Any]) -> None:
    """Enter everything public of a module of NumPy's into `new`: functions wrapped, the rest as it is."""
    for name, value in old.items():
        if name.startswith("_") or isinstance(value, ModuleType):
            continue
        new[name] = _wrapped(name, value) if callable(value) and not isinstance(value, type) else value


def _wrapped(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy's that also takes lists of tensors, and that returns tensors only where they are traced."""
    prepared = _arrays_of if name in _JOINS else _listed if name in _TAKES_SEQUENCES else _gathered

    def native(*args: Any, **kwargs: Any) -> Any:
        if name in _JOINS:
            kwargs = {key: prepared(value) for key, value in kwargs.items()}
        return settled(function(*map(prepared, args), **kwargs))

    @functools.wraps(function, updated=())
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if wrapper in primitive_vjps or wrapper in primitive_jvps:
            traced = [number for number, argument in enumerate(args) if is_traced(argument)]
            if traced:
                return applied(wrapper, traced, args, kwargs)
        return native(*args, **kwargs)

    wrapper.fun = function  # type: ignore[attr-defined]
    wrapper.native = native  # type: ignore[attr-defined]
    if name in _NOT_ASKED and function.__module__ == "numpy":
        return functools.wraps(function, updated=())(functools.partial(_unasked, function, name))
    return wrapper


def _gathered(argument: Any) -> Any:
    """A list or tuple that holds tensors as one tensor; everything else as it is."""
    if isinstance(argument, (list, tuple)) and holds_tensor(argument):
        return gt.array(argument)
    return argument


def _listed(argument: Any) -> Any:
    """What can only be gone through (an iterator, the values of a dict) as a list, which autograd joins and stacks."""
    is_bare = isinstance(argument, Iterable) and not hasattr(argument, "__getitem__")
    return list(argument) if is_bare else argument


def _arrays_of(argument: Any) -> Any:
    """The arrays that are joined: those that are nested lists with tensors in them as tensors."""
    listed = _listed(argument)
    return [_gathered(part) for part in listed] if isinstance(listed, (list, tuple)) else listed


def _unasked(function: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Any:
    if any(holds_tensor(argument) for argument in (*args, *kwargs.values())):
        if kwargs.get("dtype") is object:  # autograd's way to collect boxes in an array, which stay traced
            kwargs = {key: value for key, value in kwargs.items() if key != "dtype"}
        return settled(getattr(gt, name, gt.asarray)(*args, **kwargs))
    return function(*args, **kwargs)


class Joining:
    """`np.r_` and `np.c_`: NumPy arranges the numbers of the entries, and the entries are taken in that order."""

    def __init__(self, numpy_one: Any) -> None:
        self.numpy_one = numpy_one

    def __getitem__(self, key: Any) -> Any:
        entries = key if isinstance(key, tuple) else (key,)
        if not any(holds_tensor(entry) for entry in entries):
            return self.numpy_one[key]
        parts: list[Any] = []
        places: list[Any] = []
        total = 0
        for entry in entries:
            if isinstance(entry, str):
                places.append(entry)
                continue
            part = np.r_[entry] if isinstance(entry, slice) else gt.array(entry)
            places.append(np.arange(total, total + part.size).reshape(part.shape))
            total += part.size
            parts.append(np.ravel(part))
        return settled(np.concatenate(parts)[self.numpy_one[tuple(places)]])

    def __len__(self) -> int:
        return 0


class _IntegerType(type):
    """The kind of `np.int64` and the like: what is an integer for NumPy is an instance."""

    numpy_one: type

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, cls.numpy_one)

    def __call__(cls, value: Any = 0) -> Any:
        return cls.numpy_one(getval(value))


def integer_type(numpy_one: type) -> type:
    """An integer type of NumPy's that can be called with a traced value, whose gradient ends there."""
    return _IntegerType(numpy_one.__name__, (numpy_one,), {"numpy_one": numpy_one, "__module__": "numpy"})


def where(condition: Any, *choices: Any, x: Any = None, y: Any = None) -> Any:
    """`np.where`, by keywords too; of Python's own numbers and lists it gives Python's own.

    >>> where(True, 1.0, 2.0)
    1.0
    """
    chosen = [*choices, *(choice for choice in (x, y) if choice is not None)]
    result = settled(np.where(condition, *map(_gathered, chosen)))
    given = [condition, *chosen]
    if not chosen or any(isinstance(value, (np.ndarray, np.generic, Tensor)) for value in given):
        return result
    nested = any(isinstance(entry, (np.ndarray, np.generic, Tensor)) for value in given for entry in _entries(value))
    return result if nested else result.tolist()


def _entries(value: Any) -> Any:
    return value if isinstance(value, (list, tuple)) else ()


def concatenate_args(axis: int, *args: Any) -> Any:
    """The arrays `args`, joined along `axis`."""
    return settled(np.concatenate(args, axis))


def array_from_args(array_args: Any, array_kwargs: Any, *args: Any) -> Any:
    """An array with the entries `args`."""
    return settled(gt.array(args, *array_args, **array_kwargs))


def make_diagonal(D: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Matrices with the last axis of `D` on the diagonal; only for offset=0, axis1=-1, axis2=-2, as in autograd.

    >>> make_diagonal(np.array([1.0, 2.0]), axis1=-1, axis2=-2)
    array([[1., 0.],
           [0., 2.]])
    """
    if (offset, axis1, axis2) != (0, -1, -2):
        raise NotImplementedError("make_diagonal takes offset=0, axis1=-1, axis2=-2 and no other")
    return settled(D[..., None] * np.eye(D.shape[-1]))


def metadata(A: Any) -> tuple[Any, ...]:
    """The shape, the number of axes, the dtype, and whether it is complex."""
    value = getval(A)
    return np.shape(value), np.ndim(value), np.result_type(value), np.iscomplexobj(value)


def _astype(A: Any, dtype: Any, *args: Any, **kwargs: Any) -> Any:
    return settled(A.astype(dtype)) if isinstance(A, Tensor) else A.astype(dtype, *args, **kwargs)
