"""Margins around arrays: of constants, of the array's own elements, of what they amount to, or of the user's making."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.tensor import Tensor
from gradtape.core.typing import Array, TensorLike
from gradtape.core.views import lay_out
from gradtape.errors import OperandError, ShapeError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops import reductions, sorting
from gradtape.ops.arguments import argument_error, as_value, index_at_axis
from gradtape.ops.conversion import identity
from gradtape.ops.indexing import getitem, scatter
from gradtape.ops.joining import concatenate, stack
from gradtape.ops.shaping import broadcast_to, moveaxis, reshape

_BY_PLACES = ("edge", "reflect", "symmetric", "wrap")
_STATISTICS: dict[str, Callable[..., Any]] = {
    "maximum": reductions.max,
    "minimum": reductions.min,
    "mean": reductions.mean,
    "median": sorting.median,
}
_KEYWORDS = {
    "constant": "constant_values",
    "linear_ramp": "end_values",
    **dict.fromkeys(_STATISTICS, "stat_length"),
    "reflect": "reflect_type",
    "symmetric": "reflect_type",
}


@answers(np.pad)
def pad(array: TensorLike, pad_width: Any, mode: str = "constant", **kwargs: Any) -> Any:
    """`array` with a margin, in every mode of `np.pad`: what the margin is made of gets its gradient.

    `constant` (of `constant_values`), `edge`, `linear_ramp` (to `end_values`), `maximum`, `mean`, `median`, `minimum`
    (of the nearest `stat_length`), `reflect` and `symmetric` (`reflect_type` "even" or "odd"), `wrap`, `empty` (zeros),
    or a function that is given every vector with its margins and writes them.

    >>> import gradtape as gt
    >>> gt.pad(gt.tensor([1.0, 2.0]), 1)
    Tensor([0., 1., 2., 0.])
    >>> gt.grad(lambda x: gt.pad(x, (0, 2), "edge").sum())(gt.tensor([1.0, 2.0]))
    Tensor([1., 3.])
    """
    x = as_value(array)
    padded = _padded(x, _widths(pad_width, x), mode, kwargs)
    return lay_out(identity(x) if padded is x else padded, "A", x)


def _padded(x: Array, widths: Any, mode: str | Callable[..., Any], kwargs: dict[str, Any]) -> Any:
    if callable(mode):
        return _by_function(x, widths, mode, kwargs)
    modes = ("constant", "empty", "linear_ramp", *_BY_PLACES, *_STATISTICS)
    if mode not in modes:
        raise argument_error(OperandError, f"pad: mode={mode!r}.", f"one of {', '.join(modes)}, or a function")
    unknown = [name for name in kwargs if name != _KEYWORDS.get(mode)]
    if unknown:
        accepted = _KEYWORDS.get(mode)
        raise argument_error(
            OperandError,
            f"pad: mode={mode!r} does not take {', '.join(unknown)}.",
            f"{accepted}=..." if accepted else "no keywords",
        )
    if mode not in ("constant", "empty") and 0 in x.shape:
        for axis, (before, after) in enumerate(widths):
            if not x.shape[axis] and (before or after):
                raise argument_error(
                    ShapeError,
                    f"pad: mode={mode!r} along axis {axis} of shape {x.shape}, which is empty.",
                    "'constant'",
                )
    if mode == "empty" or (mode == "constant" and _is_zero(kwargs.get("constant_values", 0))):
        return _within_zeros(x, widths)
    details = _pairs(kwargs.get(_KEYWORDS.get(mode, ""), 0), x.ndim) if mode in ("constant", "linear_ramp") else None
    if mode in _STATISTICS:
        details = _pairs(kwargs.get("stat_length"), x.ndim)
    for axis, (before, after) in enumerate(widths):
        if before or after:
            detail = kwargs.get("reflect_type", "even") if details is None else details[axis]
            x = _along_one(x, axis, (before, after), mode, detail)
    return x


def _is_zero(value: Any) -> bool:
    """Whether a margin is of zeros, and not of those below 0."""
    return type(value) in (int, float) and value == 0 and not np.signbit(value)


def _within_zeros(x: Array, widths: list[tuple[int, int]]) -> Any:
    """`x` with margins of zeros, all of them at once."""
    index = tuple([slice(before, before + length) for (before, _), length in zip(widths, x.shape, strict=True)])
    shape = tuple([before + length + after for (before, after), length in zip(widths, x.shape, strict=True)])
    return x if shape == x.shape else scatter(x, index=index, shape=shape)


def _widths(pad_width: Any, x: Array) -> list[tuple[int, int]]:
    """How much goes before and after, for each axis."""
    if isinstance(pad_width, dict):
        named = {}
        for axis, width in pad_width.items():
            named[axis % max(x.ndim, 1)] = width
        pad_width = [np.broadcast_to(named.get(axis, 0), (2,)) for axis in range(x.ndim)]
    given = np.asarray(pad_width)
    if given.dtype.kind not in "iu" and given.size:
        raise argument_error(OperandError, f"pad: pad_width of dtype {given.dtype}.", "integers")
    try:
        pairs = np.broadcast_to(given, (x.ndim, 2))
    except ValueError:
        raise argument_error(
            ShapeError,
            f"pad: pad_width of shape {given.shape} for {x.ndim} axes.",
            "a number, a pair, or a pair an axis",
        ) from None
    if (pairs < 0).any():
        raise argument_error(ShapeError, "pad: a negative pad_width.", "0 or more; x[1:-1] takes away")
    return [(int(before), int(after)) for before, after in pairs]


def _pairs(value: Any, ndim: int) -> list[tuple[Any, Any]]:
    """A value for each end of each axis, from one for all, a pair, or a pair for each axis; tensors stay tensors."""
    if value is None:
        return [(None, None)] * ndim
    if isinstance(value, list | tuple):
        rows = [_pair(item) for item in value]
        if all(isinstance(item, list | tuple) for item in value):
            if len(rows) not in (1, ndim):
                raise argument_error(
                    ShapeError, f"pad: {len(rows)} pairs for {ndim} axes.", "a number, a pair, or a pair an axis"
                )
            return rows * ndim if len(rows) == 1 else rows
        single = [value[0], value[0]] if len(value) == 1 else list(value)
        return [(single[0], single[1])] * ndim
    value = as_value(value)
    table = broadcast_to(value, (ndim, 2))
    return [(table[axis, 0], table[axis, 1]) for axis in range(ndim)]


def _pair(item: Any) -> tuple[Any, Any]:
    values = list(item) if isinstance(item, list | tuple) else [item]
    return values[0], values[-1]


def _along_one(x: Array, axis: int, width: tuple[int, int], mode: str, detail: Any) -> Any:
    """`x` with margins along one axis."""
    if mode in _BY_PLACES:
        return _from_own_elements(x, axis, width, mode, detail)
    pieces = [x]
    for end, count in enumerate(width):
        if not count:
            continue
        shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
        if mode == "constant":
            margin: Any = broadcast_to(as_value(detail[end]).astype(x.dtype), shape)
        elif mode == "linear_ramp":
            margin = _ramp(x, axis, end, count, detail[end])
        else:
            margin = broadcast_to(_amount(x, axis, end, mode, detail[end]), shape)
        pieces.insert(0 if end == 0 else len(pieces), margin)
    return concatenate(pieces, axis)


def _ramp(x: Array, axis: int, end: int, count: int, value: TensorLike) -> Any:
    """Even steps from `value` at the far end to the edge of `x`, which is not repeated."""
    edge = x[index_at_axis(axis, slice(0, 1) if end == 0 else slice(-1, None))]
    steps = np.arange(count) / count
    steps = (steps if end == 0 else steps[::-1]).reshape((1,) * axis + (-1,) + (1,) * (x.ndim - axis - 1))
    far = as_value(value)
    if x.dtype.kind in "fc":
        return far.astype(x.dtype) + (edge - far.astype(x.dtype)) * steps.astype(x.dtype)
    return np.floor(far + (edge - far) * steps).astype(x.dtype)


def _amount(x: Array, axis: int, end: int, mode: str, length: Any) -> Any:
    """The mean, median or extreme of the elements nearest to an end."""
    count = x.shape[axis] if length is None else min(int(length), x.shape[axis])
    if count < 1:
        raise argument_error(ShapeError, f"pad: stat_length={length}.", "1 or more")
    near = x[index_at_axis(axis, slice(0, count) if end == 0 else slice(x.shape[axis] - count, None))]
    found = _STATISTICS[mode](near, axis, keepdims=True)
    return found if x.dtype.kind in "fc" else (np.rint(found) if x.dtype.kind in "iu" else found).astype(x.dtype)


def _from_own_elements(x: Array, axis: int, width: tuple[int, int], mode: str, reflect_type: str) -> Any:
    """Margins that are sums of few of the elements along the axis: one, unless a reflection is odd."""
    length = x.shape[axis]
    if reflect_type == "even" or mode in ("edge", "wrap"):
        places: Any = np.pad(np.arange(length), width, mode)  # type: ignore[call-overload]
        return getitem(x, index_at_axis(axis, places))
    if reflect_type != "odd":
        raise argument_error(OperandError, f"pad: reflect_type={reflect_type!r}.", "'even' or 'odd'")
    # padding is linear: what it makes of the unit vectors says which elements are added up, how often, at each place
    weights: Any = np.pad(np.eye(length), [width, (0, 0)], mode, reflect_type="odd")  # type: ignore[call-overload]
    order = np.argsort(-np.abs(weights), axis=1, kind="stable")
    total: Any = None
    for term in range(int(np.count_nonzero(weights, axis=1).max())):
        places = order[:, term]
        factor = weights[np.arange(places.size), places].astype(x.dtype)
        part = getitem(x, index_at_axis(axis, places)) * factor.reshape(
            (1,) * axis + (-1,) + (1,) * (x.ndim - axis - 1)
        )
        total = part if total is None else total + part
    return total


def _by_function(x: Array, widths: list[tuple[int, int]], function: Callable[..., Any], kwargs: dict[str, Any]) -> Any:
    """Every vector along every axis, margins of zeros included, as `function` leaves it."""
    padded = pad(x, widths)
    for axis, width in enumerate(widths):
        rows = moveaxis(padded, axis, -1)
        others = rows.shape[:-1]
        written = []
        for place in np.ndindex(*others):
            vector = identity(rows[place] if isinstance(rows, Tensor) else Tensor(rows[place]))
            function(vector, width, axis, kwargs)
            written.append(vector)
        if written:
            padded = moveaxis(reshape(stack(written), rows.shape), -1, axis)
    return padded


__all__ = ["pad"]
