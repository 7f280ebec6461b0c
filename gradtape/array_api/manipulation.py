"""The same elements in another shape or order, and arrays joined and taken apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape import ops
from gradtape.array_api.arguments import ArgumentError, array, each_array
from gradtape.extend import Lifted, argument_error, as_shape, concrete

__all__ = [
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "tile",
    "unstack",
]


def broadcast_arrays(*arrays: Any) -> list[Any]:
    """All arrays stretched to the shape that they have in common."""
    return list(ops.broadcast_arrays(*each_array(arrays, "broadcast_arrays"))) if arrays else []


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays of these shapes have in common."""
    return np.broadcast_shapes(*shapes)


def broadcast_to(x: Any, /, shape: tuple[int, ...]) -> Any:
    """`x` stretched to a shape."""
    return ops.broadcast_to(array(x, "broadcast_to"), shape)


def concat(arrays: Any, /, *, axis: int | None = 0) -> Any:
    """Arrays one after the other along an axis; without an axis, all their elements in a row."""
    return ops.concatenate(each_array(arrays, "concat"), axis)


def expand_dims(x: Any, /, axis: int = 0) -> Any:
    """`x` with a new axis of length 1."""
    return ops.expand_dims(array(x, "expand_dims"), axis)


def flip(x: Any, /, *, axis: int | tuple[int, ...] | None = None) -> Any:
    """The elements in reverse order along axes (all of them by default)."""
    return ops.flip(array(x, "flip"), axis)


def moveaxis(x: Any, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> Any:
    """`x` with axes at other places; the rest stay in order."""
    return ops.moveaxis(array(x, "moveaxis"), source, destination)


def permute_dims(x: Any, /, axes: tuple[int, ...]) -> Any:
    """`x` with its axes in another order."""
    return ops.transpose(array(x, "permute_dims"), axes)


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Any:
    """Each element, or slice along `axis`, several times."""
    x = array(x, "repeat")
    if not isinstance(repeats, int):
        repeats = array(repeats, "repeat", "repeats").numpy()
        if repeats.dtype.kind not in "iu":
            raise argument_error(ArgumentError, f"repeat: repeats of dtype {repeats.dtype}.", "integers")
        repeats = repeats.astype(np.int64)  # NumPy does not count with uint64
    return ops.repeat(x, repeats, axis)


def reshape(x: Any, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Any:
    """The same elements in another shape. `copy=False` refuses where they would have to move.

    >>> import gradtape.array_api as xp
    >>> xp.reshape(xp.arange(4), (2, -1))
    Tensor([[0, 1],
            [2, 3]])
    """
    x = array(x, "reshape")
    if copy is False and not isinstance(x, Lifted):
        try:
            np.reshape(concrete(x), as_shape(shape), copy=False)
        except ValueError as error:
            if "copy" not in str(error):  # a shape that does not fit gets its own message below
                return ops.reshape(x, shape)
            raise argument_error(
                ArgumentError,
                f"reshape: copy=False, but {x.shape} to {tuple(as_shape(shape))} has to move elements.",
                "copy=None, which copies where it has to",
            ) from None
    reshaped = ops.reshape(x, shape)
    return ops.identity(reshaped) if copy else reshaped


def roll(x: Any, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None) -> Any:
    """The elements moved along axes; what leaves at one end comes back at the other."""
    return ops.roll(array(x, "roll"), shift, axis)


def squeeze(x: Any, /, axis: int | tuple[int, ...]) -> Any:
    """`x` without these axes, which have to be of length 1."""
    return ops.squeeze(array(x, "squeeze"), axis)


def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """Arrays of one shape along a new axis."""
    return ops.stack(each_array(arrays, "stack"), axis)


def tile(x: Any, repetitions: tuple[int, ...], /) -> Any:
    """`x` laid side by side, as often along each axis as `repetitions` says."""
    return ops.tile(array(x, "tile"), repetitions)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The slices of `x` along an axis, one by one."""
    return tuple(ops.unstack(array(x, "unstack"), axis))
