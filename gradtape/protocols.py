"""How `np.*` finds its way here: NumPy's two protocols, and the table of the functions that are answered.

A NumPy function that is given a tensor asks `__array_ufunc__` or `__array_function__`. What is in the tables is
recorded like gradtape's own; what is not raises at the call, with the nearest alternative, instead of losing the
gradient in silence.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import numbers
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from gradtape.core.location import Location
from gradtape.core.operation import Op, apply
from gradtape.core.rules import TABLE
from gradtape.core.tensor import Tensor, is_tracked, plain
from gradtape.errors import DetachError, OperandError, UnsupportedError

UFUNCS: dict[np.ufunc, Op] = {}
BY_NAME: dict[str, Op] = {}
"""Operations that stand for SciPy's ufuncs, by name, so that SciPy is not imported before the user does."""

FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {}
REDUCTIONS: dict[np.ufunc, Callable[..., Any]] = {}
ACCUMULATIONS: dict[np.ufunc, Callable[..., Any]] = {}

F = TypeVar("F", bound=Callable[..., Any])


def answers(*numpy_functions: Callable[..., Any]) -> Callable[[F], F]:
    """Register a function as what `numpy_functions` do when they are given a tensor."""

    def register(function: F) -> F:
        for numpy_function in numpy_functions:
            FUNCTIONS[numpy_function] = function
        return function

    return register


def register_table() -> None:
    """Enter every operation that is named for the ufunc that is its kernel, and all that say what they answer for."""
    for op in TABLE.values():
        if isinstance(op.kernel, np.ufunc) and op.kernel.__name__ == op.name:
            UFUNCS[op.kernel] = op
        for function in op.answers:
            if isinstance(function, np.ufunc):
                UFUNCS[function] = op
            elif isinstance(function, str):
                BY_NAME[function] = op
            else:
                FUNCTIONS[function] = op


LATE_CHAPTERS = (
    "choosing",
    "decompositions",
    "determinants",
    "fft",
    "histograms",
    "least_squares",
    "matrix_functions",
    "norms",
    "numerical",
    "polynomials",
    "searching",
    "singular",
    "special",
    "spectral",
    "statistics",
)
"""Chapters of `gradtape.ops` that are opened when one of their functions is first called, to keep the import quick."""


@functools.cache
def open_chapters() -> None:
    """Import the late chapters and enter what they answer for."""
    for chapter in LATE_CHAPTERS:
        importlib.import_module(f"gradtape.ops.{chapter}")
    register_table()


_KNOWN = (Tensor, np.ndarray, np.generic, numbers.Number, list, tuple)


def accepts(value: Any) -> bool:
    """Whether `value` is something that operations take; other libraries' arrays get a chance of their own."""
    return isinstance(value, _KNOWN)


def array_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `Tensor.__array_ufunc__` does."""
    for x in inputs:
        if not isinstance(x, _KNOWN):
            return NotImplemented
    if method == "__call__":
        op = UFUNCS.get(ufunc) or BY_NAME.get(f"scipy.special.{ufunc.__name__}")
        if op is None:
            open_chapters()
            op = UFUNCS.get(ufunc) or BY_NAME.get(f"scipy.special.{ufunc.__name__}")
        if op is None:
            raise unsupported(ufunc)
        if not kwargs:
            return apply(op, inputs, {})
        return _call_with_keywords(ufunc, op, inputs, kwargs)
    if method == "reduce" and ufunc in REDUCTIONS:
        kwargs.setdefault("axis", 0)
        return REDUCTIONS[ufunc](*inputs, **{k: v for k, v in kwargs.items() if v is not None or k == "axis"})
    if method == "accumulate" and ufunc in ACCUMULATIONS:
        return ACCUMULATIONS[ufunc](*inputs, **{"axis": 0, **kwargs})
    if method == "outer" and ufunc in UFUNCS:
        left, right = (x if isinstance(x, Tensor) else np.asarray(x) for x in inputs)
        return apply(UFUNCS[ufunc], (left.reshape(left.shape + (1,) * len(right.shape)), right), {})
    raise unsupported(ufunc, f".{method}")


def _call_with_keywords(ufunc: np.ufunc, op: Op, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A ufunc call with `out=`, `where=` or `dtype=`."""
    kwargs = dict(kwargs)
    outs = kwargs.pop("out", None)
    mask = kwargs.pop("where", True)
    dtype = kwargs.pop("dtype", None)
    if kwargs:
        raise OperandError(
            f"np.{ufunc.__name__} on a tensor does not take {', '.join(kwargs)}.\n{Location.here().show()}\n"
            f"  accepted: out, where (with out), dtype"
        )
    result = apply(op, inputs, {})
    if dtype is not None:
        result = result.astype(dtype)
    if outs is None:
        if mask is not True:
            raise OperandError(
                f"np.{ufunc.__name__}(where=...) without out= leaves the other elements undefined.\n"
                f"{Location.here().show()}\n  fix: gt.where(mask, np.{ufunc.__name__}(...), other)"
            )
        return result
    (out,) = outs
    if not isinstance(out, Tensor):
        return write_back(result, out, mask)
    chosen = result if mask is True else np.where(mask, result, out)
    return out._replace(chosen, f"np.{ufunc.__name__}(out=...)")


def write_back(result: Any, out: np.ndarray[Any, Any], mask: Any = True) -> np.ndarray[Any, Any]:
    """Write an untracked result into a plain array; a tracked one would lose its gradient there."""
    if isinstance(result, Tensor) and is_tracked(result):
        raise DetachError(
            f"a tracked tensor (shape {result.shape}) would be written into a plain array and lose its gradient.\n"
            f"{Location.here().show()}\n"
            f"  fix: a = a + x instead of a += x (the result is a tensor), or gt.at(a)[i].set(x)"
        )
    np.copyto(out, plain(result), where=mask)
    return out


def array_function(function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
    """What `Tensor.__array_function__` does."""
    for kind in types:
        if not issubclass(kind, Tensor | np.ndarray):
            return NotImplemented
    ours = FUNCTIONS.get(function)
    if ours is None:
        open_chapters()
        ours = FUNCTIONS.get(function)
    if ours is None:
        raise unsupported(function)
    out = kwargs.pop("out", None)
    result = ours(*args, **kwargs)
    if out is None:
        return result
    return (
        out._replace(result, f"np.{function.__name__}(out=...)") if isinstance(out, Tensor) else write_back(result, out)
    )


def unsupported(function: Any, method: str = "") -> UnsupportedError:
    """The error for a NumPy function that gradtape does not have, with what is nearest."""
    name = function.__name__
    module = str(getattr(function, "__module__", "numpy")).replace("numpy", "np")
    if isinstance(function, np.ufunc):
        module = "np" if hasattr(np, name) else "scipy.special"
    known = {f.__name__ for f in UFUNCS} | {f.__name__ for f in FUNCTIONS}
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    hint = f"nearest that is there: {', '.join('np.' + n for n in near)}; or " if near else ""
    return UnsupportedError(
        f"{module}.{name}{method} has no gradient rule in gradtape.\n{Location.here().show()}\n"
        f"  fix: {hint}{module}.{name}(x.numpy()) if no gradient is wanted; gt.custom_vjp to give it a rule"
    )
