"""Broadcasting, and how to undo it."""

from __future__ import annotations

from typing import Any

Shape = tuple[int, ...]


def unbroadcast(gradient: Any, shape: Shape) -> Any:
    """Sum `gradient` over the axes along which an array of `shape` was stretched to `gradient.shape`.

    The adjoint of `broadcast_to`: what was copied along an axis collects the sum along it. A gradient that was never
    a broadcast of `shape` is returned as far as it can be reduced, for the edge check to refuse.

    >>> import numpy as np
    >>> unbroadcast(np.ones((2, 3)), (3,))
    array([2., 2., 2.])
    >>> unbroadcast(np.ones((2, 3)), (2, 1))
    array([[3.],
           [3.]])
    """
    extra = len(gradient.shape) - len(shape)
    if extra < 0:
        return gradient
    if extra:
        gradient = gradient.sum(axis=tuple(range(extra)))
    stretched = tuple(
        axis for axis, (has, wants) in enumerate(zip(gradient.shape, shape, strict=True)) if wants == 1 and has != 1
    )
    return gradient.sum(axis=stretched, keepdims=True) if stretched else gradient


def normalize_axes(axis: Any, ndim: int) -> Shape:
    """Axes as a sorted tuple of non-negative integers; `None` means all of them.

    >>> normalize_axes(-1, 3), normalize_axes(None, 2), normalize_axes((1, 0), 2)
    ((2,), (0, 1), (0, 1))
    """
    from numpy.lib.array_utils import normalize_axis_tuple

    if axis is None:
        return tuple(range(ndim))
    return tuple(sorted(normalize_axis_tuple(axis, ndim, "axis")))
