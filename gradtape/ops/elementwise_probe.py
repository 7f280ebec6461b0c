"""Whether a function of the user's computes each element of its result from that element of its argument alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.graph import with_numbers
from gradtape.core.side_effects import StateBefore
from gradtape.core.tensor import Tensor

_POINTS = np.array([0.13, 0.41, 0.29, 0.87, 0.62])
_PROBES = (_POINTS, -_POINTS, 1.0 + 3.0 * _POINTS)
_PART = slice(1, 4)


def is_elementwise(function: Callable[..., Any], args: Any, kwargs: Any, dtype: np.dtype[Any]) -> bool:
    """Whether `function` gives for a part of an array the part of what it gives for the whole, as far as three show.

    A function that writes to its argument, or to what it can reach, is none: it has to run on the elements that are
    its own. What it has changed here is put back.

    >>> is_elementwise(np.sin, (), {}, np.dtype(float)), is_elementwise(np.cumsum, (), {}, np.dtype(float))
    (True, False)
    """
    before = StateBefore([function])
    if before.has_iterators:
        return False
    try:
        with np.errstate(all="ignore"):
            shown = [_agrees(function, args, kwargs, points.astype(dtype)) for points in _PROBES]
    except Exception:
        # numbers that the function does not take: its own elements will show whether there is an error
        shown = [False]
    return not before.restore() and False not in shown and True in shown


def _agrees(function: Callable[..., Any], args: Any, kwargs: Any, points: np.ndarray[Any, Any]) -> bool | None:
    """Whether the results agree; None, if no number shows it."""
    given = points.copy()
    whole = _numbers(function(given, *args, **kwargs))
    part = _numbers(function(points[_PART].copy(), *args, **kwargs))
    if not np.array_equal(given, points):
        return False
    whole = np.broadcast_to(whole, np.broadcast_shapes(whole.shape, points.shape))[..., _PART]
    part = np.broadcast_to(part, np.broadcast_shapes(part.shape, points[_PART].shape))
    if whole.shape != part.shape or not np.allclose(whole, part, rtol=1e-5, equal_nan=True):
        return False
    return True if np.isfinite(part).any() else None


def _numbers(value: Any) -> np.ndarray[Any, Any]:
    """The numbers of a result, those of all examples of a batch, without a look at them that `jit` would guard."""
    is_single = np.ndim(value) == 0
    while isinstance(value, Tensor) and hasattr(value, "value"):
        value = value.value
    found = np.asarray(with_numbers(value._array) if isinstance(value, Tensor) else value)
    return found[..., np.newaxis] if is_single else found
