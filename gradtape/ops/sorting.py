"""Sorting, and what is found by sorting. The gradient goes through the permutation."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.rules import constant
from gradtape.core.tensor import plain
from gradtape.errors import OperandError
from gradtape.ops.arguments import all_axes, as_value, behind_batch, flat_or_axis, refused
from gradtape.ops.elementwise import where
from gradtape.ops.indexing import take_along_axis
from gradtape.ops.reductions import any as any_of
from gradtape.ops.shaping import expand_dims, moveaxis, reshape
from gradtape.protocols import answers

_argsort = constant(
    lambda x, axis: np.argsort(x, axis=axis, kind="stable"),
    name="argsort",
    batch=behind_batch("axis"),
    samples=lambda draw: [((draw(5),), {"axis": 0}), ((draw(3, 4),), {"axis": 0}), ((draw(2, 0),), {"axis": 1})],
)


@answers(np.argsort)
def argsort(x: Any, axis: int | None = -1, kind: Any = None, order: None = None, *, stable: Any = None) -> Any:
    """The positions that would sort `x`; equal elements stay in order. Positions have no gradient; `sort` has.

    >>> import gradtape as gt
    >>> gt.argsort(gt.tensor([3.0, 1.0]))
    Tensor([1, 0])
    """
    x, axis = flat_or_axis(x, axis)
    return _argsort(x, axis=axis)


@answers(np.sort)
def sort(x: Any, axis: int | None = -1, kind: Any = None, order: None = None, *, stable: Any = None) -> Any:
    """The elements in ascending order along `axis`; each keeps its gradient.

    >>> import gradtape as gt
    >>> gt.grad(lambda x: gt.sort(x)[0])(gt.tensor([3.0, 1.0, 2.0]))
    Tensor([0., 1., 0.])
    """
    x, axis = flat_or_axis(x, axis)
    return take_along_axis(x, _argsort(x, axis=axis), axis)


# -- quantiles: a place between two sorted elements, which share by their distance

_METHODS: dict[str, Any] = {
    "linear": lambda place, below: place - below,
    "lower": lambda place, below: np.zeros_like(place),
    "higher": lambda place, below: (place > below) * 1.0,
    "midpoint": lambda place, below: (place > below) * 0.5,
    "nearest": lambda place, below: (np.around(place) > below) * 1.0,
}


@answers(np.quantile)
def quantile(
    x: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Any:
    """The value below which a share `q` (from 0 to 1) of the elements along `axis` is.

    >>> import gradtape as gt
    >>> gt.grad(lambda x: gt.quantile(x, 0.25))(gt.tensor([3.0, 1.0, 2.0]))
    Tensor([0. , 0.5, 0.5])
    """
    x, shares = as_value(x), np.asarray(plain(q), float)
    if method not in _METHODS:
        raise refused(OperandError, f"quantile: method={method!r} has no rule.", f"one of {', '.join(_METHODS)}")
    if np.any((shares < 0) | (shares > 1)):
        raise refused(OperandError, "quantile: q is not from 0 to 1.", "gt.percentile takes q from 0 to 100")
    axes = all_axes(axis, x.ndim)
    rows = moveaxis(x, axes, range(-len(axes), 0)) if axes else expand_dims(x, -1)
    rows = reshape(rows, (*rows.shape[: x.ndim - len(axes)], -1))
    place = shares * (rows.shape[-1] - 1)
    below, above = np.floor(place).astype(int), np.ceil(place).astype(int)
    weight = _METHODS[method](place, below).astype(x.dtype if x.dtype.kind in "fc" else float)
    ordered = sort(rows)
    lower = where(weight == 1, 0, ordered[..., below])  # what has no weight is not multiplied: it may be infinite
    upper = where(weight == 0, 0, ordered[..., above])
    found = lower * (1 - weight) + upper * weight
    if x.dtype.kind in "fc":  # sorted to the end, a nan would not be seen
        broken = expand_dims(any_of(rows != rows, axis=-1), tuple(range(-shares.ndim, 0)))
        found = where(broken, np.array(np.nan, x.dtype), found)
    found = moveaxis(found, range(-shares.ndim, 0), range(shares.ndim)) if shares.ndim else found
    return expand_dims(found, tuple([a + shares.ndim for a in sorted(axes)])) if keepdims and axes else found


@answers(np.percentile)
def percentile(
    x: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Any:
    """The value below which `q` percent of the elements along `axis` are.

    >>> import gradtape as gt
    >>> gt.percentile(gt.tensor([1.0, 2.0, 4.0]), 75)
    Tensor(3.)
    """
    return quantile(x, np.asarray(plain(q)) / 100, axis, method=method, keepdims=keepdims)


@answers(np.median)
def median(x: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """The middle element along `axis`; of an even number, the mean of the two in the middle.

    >>> import gradtape as gt
    >>> gt.grad(gt.median)(gt.tensor([3.0, 1.0, 2.0, 8.0]))
    Tensor([0.5, 0. , 0.5, 0. ])
    """
    return quantile(x, 0.5, axis, keepdims=keepdims)
