"""Elements turned around, shifted, repeated and masked."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import linear
from gradtape.core.tensor import plain
from gradtape.core.typing import Axis, TensorLike
from gradtape.core.views import lay_out
from gradtape.errors import ShapeError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import (
    all_axes,
    argument_error,
    as_shape,
    as_value,
    axes_tuple,
    batch_shift_axes,
    flat_or_axis,
    index_at_axis,
)
from gradtape.ops.conversion import identity
from gradtape.ops.elementwise import where
from gradtape.ops.shaping import broadcast_to, ravel, reshape, swapaxes

__all__ = [
    "flip",
    "fliplr",
    "flipud",
    "repeat",
    "roll",
    "rot90",
    "tile",
    "tril",
    "triu",
]

# -- turning

_flip: Op = linear(
    lambda x, axis: np.flip(x, axis),
    lambda g, axis: _flip(g, axis=axis),
    name="flip",
    moves_elements=True,
    batch=batch_shift_axes("axis"),
    view=True,
    samples=lambda draw: [
        ((draw(2, 3),), {"axis": (0,)}),
        ((draw(2, 3),), {"axis": (0, 1)}),
        ((draw(0),), {"axis": (0,)}),
    ],
)
_flip.write_back = lambda base, new, axis: _flip(new, axis=axis)


@answers(np.flip)
def flip(x: TensorLike, axis: Axis = None) -> Any:
    """The elements in reverse order along `axis` (all axes by default).

    >>> import gradtape as gt
    >>> gt.flip(gt.tensor([1.0, 2.0]))
    Tensor([2., 1.])
    """
    x = as_value(x)
    return _flip(x, axis=all_axes(axis, x.ndim))


@answers(np.flipud)
def flipud(x: TensorLike) -> Any:
    """The rows in reverse order.

    >>> import gradtape as gt
    >>> gt.flipud(gt.tensor([[1.0], [2.0]]))
    Tensor([[2.],
            [1.]])
    """
    return flip(x, 0)


@answers(np.fliplr)
def fliplr(x: TensorLike) -> Any:
    """The columns in reverse order.

    >>> import gradtape as gt
    >>> gt.fliplr(gt.tensor([[1.0, 2.0]]))
    Tensor([[2., 1.]])
    """
    return flip(x, 1)


@answers(np.rot90)
def rot90(x: TensorLike, k: int = 1, axes: Any = (0, 1)) -> Any:
    """A plane turned by 90 degrees, `k` times, from the first of `axes` towards the second.

    >>> import gradtape as gt
    >>> gt.rot90(gt.tensor([[1.0, 2.0]]))
    Tensor([[2.],
            [1.]])
    """
    x = as_value(x)
    first, second = axes_tuple(axes, x.ndim)
    if k % 2 == 0:
        return flip(x, (first, second)) if k % 4 else x
    turned = swapaxes(x, first, second)
    return flip(turned, first if k % 4 == 1 else second)


_roll: Op = linear(
    lambda x, shift, axis: np.roll(x, shift, axis),
    lambda g, shift, axis: _roll(g, shift=tuple(-s for s in shift), axis=axis),
    name="roll",
    moves_elements=True,
    batch=batch_shift_axes("axis"),
    samples=lambda draw: [
        ((draw(5),), {"shift": (2,), "axis": (0,)}),
        ((draw(2, 3),), {"shift": (1, -1), "axis": (0, 1)}),
        ((draw(3, 4),), {"shift": (1,), "axis": (0,)}),
        ((draw(0, 3),), {"shift": (1,), "axis": (1,)}),
    ],
)


@answers(np.roll)
def roll(x: TensorLike, shift: Any, axis: Axis = None) -> Any:
    """The elements shifted along `axis`, those that fall off the end coming in at the front.

    >>> import gradtape as gt
    >>> gt.roll(gt.tensor([1.0, 2.0, 3.0]), 1)
    Tensor([3., 1., 2.])
    """
    x = as_value(x)
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.shape)
    axes = axes_tuple(axis, x.ndim, repeated=True)
    shifts = as_shape(shift)
    if len(axes) != len(shifts) and 1 not in (len(axes), len(shifts)):
        raise argument_error(
            ShapeError, f"roll: {len(shifts)} shifts for {len(axes)} axes.", "one shift for each axis, or one"
        )
    if not axes or not shifts:
        return identity(x)
    count = max(len(axes), len(shifts))
    return _roll(x, shift=shifts * (count // len(shifts)), axis=axes * (count // len(axes)))


# -- repeating


@answers(np.repeat)
def repeat(x: TensorLike, repeats: Any, axis: int | None = None) -> Any:
    """Each element (or slice along `axis`) repeated.

    >>> import gradtape as gt
    >>> gt.repeat(gt.tensor([1.0, 2.0]), 2)
    Tensor([1., 1., 2., 2.])
    """
    x, axis = flat_or_axis(x, axis, number=True)
    return lay_out(x[index_at_axis(axis, np.repeat(np.arange(x.shape[axis]), plain(repeats)))], "C")


@answers(np.tile)
def tile(x: TensorLike, reps: Any) -> Any:
    """The whole of `x` repeated along each axis.

    >>> import gradtape as gt
    >>> gt.tile(gt.tensor([1.0, 2.0]), 2)
    Tensor([1., 2., 1., 2.])
    """
    x, counts = as_value(x), as_shape(reps)
    counts = (1,) * (x.ndim - len(counts)) + counts
    shape = (1,) * (len(counts) - x.ndim) + x.shape
    if all(count == 1 for count in counts):
        return reshape(lay_out(identity(x), "K", x), shape)
    paired = [n for length in shape for n in (1, length)]
    stretched = [n for count, length in zip(counts, shape, strict=True) for n in (count, length)]
    flat = [count * length for count, length in zip(counts, shape, strict=True)]
    return reshape(broadcast_to(reshape(x, paired), stretched), flat)


# -- triangles


def _lower(shape: tuple[int, ...], k: int) -> Any:
    """Where the last two axes of `shape` are on or below the `k`-th diagonal."""
    if not shape:
        raise argument_error(ShapeError, f"a triangle of an array of shape {shape}.", "two axes or more: x[None, :]")
    return np.tri(shape[-2] if len(shape) > 1 else shape[-1], shape[-1], k, bool)  # a vector is the row of a square


@answers(np.tril)
def tril(x: TensorLike, k: int = 0) -> Any:
    """The lower triangle of the last two axes, zeros above the `k`-th diagonal.

    >>> import gradtape as gt
    >>> gt.tril(gt.ones((2, 2)))
    Tensor([[1., 0.],
            [1., 1.]])
    """
    x = as_value(x)
    return where(_lower(x.shape, k), x, np.zeros((), x.dtype))


@answers(np.triu)
def triu(x: TensorLike, k: int = 0) -> Any:
    """The upper triangle of the last two axes, zeros below the `k`-th diagonal.

    >>> import gradtape as gt
    >>> gt.triu(gt.ones((2, 2)))
    Tensor([[1., 1.],
            [0., 1.]])
    """
    x = as_value(x)
    return where(_lower(x.shape, k - 1), np.zeros((), x.dtype), x)
