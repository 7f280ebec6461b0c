"""Broadcasting, and how to undo it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from gradtape.explain import messages

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


def axis_index(axis: Any, ndim: int) -> int:
    """An axis as a non-negative integer; an error that names the user's line if the array does not have it.

    >>> axis_index(-1, 3)
    2
    """
    try:
        return normalize_axis_index(axis, ndim)
    except np.exceptions.AxisError:
        raise messages.no_such_axis(axis, ndim) from None


def axis_tuple(axis: Any, ndim: int, allow_duplicate: bool = False) -> Shape:
    """One axis or several as a tuple of non-negative integers, in the order given.

    >>> axis_tuple(-1, 3), axis_tuple((1, -3), 3)
    ((2,), (1, 0))
    """
    try:
        return normalize_axis_tuple(axis, ndim, "axis", allow_duplicate)
    except np.exceptions.AxisError:
        raise messages.no_such_axis(axis, ndim) from None
    except ValueError:
        raise messages.repeated_axis(axis, ndim) from None
