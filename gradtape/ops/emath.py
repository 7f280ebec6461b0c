"""`np.emath`: functions that leave the real numbers where they have to.

The square root of a negative number, say, is complex here, and not nan. Which numbers come out depends on the values;
inside `vmap`, where they are not the same for all examples, complex ones do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.operation import Lifted
from gradtape.core.rules import elementwise as declare
from gradtape.core.tensor import plain
from gradtape.core.typing import Array, TensorLike
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops import elementwise
from gradtape.ops.arguments import as_value


def _reaching(x: TensorLike, outside: Callable[..., Any]) -> Any:
    """`x`, as complex numbers if some of its values are `outside`."""
    x = as_value(x)
    if x.dtype.kind == "c" or not (isinstance(x, Lifted) or np.any(outside(plain(x)))):
        return x
    return x.astype(np.complex64 if x.dtype.itemsize <= (4 if x.dtype.kind == "f" else 2) else complex)


def _negative(x: Array) -> Any:
    return x < 0


def _beyond_one(x: Array) -> Any:
    return np.abs(x) > 1


# Beyond 1 there is a cut: 1 - x^2 is on the wrong side of it, -(x - 1) on the right one.
def _root(x: Array) -> Any:
    return np.sqrt(-(x - 1)) * np.sqrt(x + 1)


_arccos_beyond = declare(
    lambda x: np.arccos(x), lambda x: -1 / _root(x), name="arccos beyond 1", domain=[elementwise.UNIT]
)
_arcsin_beyond = declare(
    lambda x: np.arcsin(x), lambda x: 1 / _root(x), name="arcsin beyond 1", domain=[elementwise.UNIT]
)


@answers(np.emath.sqrt)
def _sqrt(x: Array) -> Any:
    return elementwise.sqrt(_reaching(x, _negative))


@answers(np.emath.log)
def _log(x: Array) -> Any:
    return elementwise.log(_reaching(x, _negative))


@answers(np.emath.log10)
def _log10(x: Array) -> Any:
    return elementwise.log10(_reaching(x, _negative))


@answers(np.emath.log2)
def _log2(x: Array) -> Any:
    return elementwise.log2(_reaching(x, _negative))


@answers(np.emath.logn)
def _logn(n: Any, x: Array) -> Any:
    return _log(x) / _log(n)


@answers(np.emath.power)
def _power(x: Array, p: TensorLike) -> Any:
    x, p = _reaching(x, _negative), as_value(p)
    return elementwise.power(x, p.astype(float) if p.dtype.kind in "iu" and np.any(plain(p) < 0) else p)


@answers(np.emath.arccos)
def _arccos(x: Array) -> Any:
    return _arccos_beyond(_reaching(x, _beyond_one))


@answers(np.emath.arcsin)
def _arcsin(x: Array) -> Any:
    return _arcsin_beyond(_reaching(x, _beyond_one))


@answers(np.emath.arctanh)
def _arctanh(x: Array) -> Any:
    return elementwise.arctanh(_reaching(x, _beyond_one))


__all__: list[str] = []
