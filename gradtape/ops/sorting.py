"""Sorting, and what is found by sorting. The gradient goes through the permutation."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.rules import constant
from gradtape.ops.arguments import all_axes, as_value, behind_batch, flat_or_axis
from gradtape.ops.elementwise import where
from gradtape.ops.indexing import take_along_axis
from gradtape.ops.reductions import any as any_of
from gradtape.ops.reductions import mean
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


@answers(np.median)
def median(x: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """The middle element along `axis`; of an even number, the mean of the two in the middle.

    >>> import gradtape as gt
    >>> gt.grad(gt.median)(gt.tensor([3.0, 1.0, 2.0, 8.0]))
    Tensor([0.5, 0. , 0.5, 0. ])
    """
    x = as_value(x)
    axes = all_axes(axis, x.ndim)
    moved = moveaxis(x, axes, range(-len(axes), 0)) if axes else expand_dims(x, -1)
    rows = reshape(moved, (*moved.shape[: x.ndim - len(axes)], -1))
    length = rows.shape[-1]
    middle = mean(sort(rows)[..., (length - 1) // 2 : length // 2 + 1], axis=-1)
    if x.dtype.kind in "fc":
        middle = where(any_of(rows != rows, axis=-1), np.array(np.nan, x.dtype), middle)
    return expand_dims(middle, sorted(axes)) if keepdims and axes else middle
