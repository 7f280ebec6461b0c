"""The memory layout of values: buffer, offset and strides of views, parts and windows. Strides are in elements."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from gradtape.jit.native.lower.ir import MOVING_VIEW, AnyInstruction, ArrayValue

Shape = tuple[int, ...]


class Unsupported(Exception):
    """An instruction has no native form; its NumPy kernel is used."""


class Layout(NamedTuple):
    """Where a value is: the value whose memory it is in, the first element, and the strides along its axes.

    The first element of a moving view is further by what its `moves` say: pairs of a value, which is a non-negative
    integer, and the distance in elements for which one of it stands.
    """

    root: ArrayValue
    offset: int
    steps: tuple[int, ...]
    moves: tuple[tuple[ArrayValue, int], ...] = ()


def bytes_of(value: ArrayValue) -> int:
    """The size of a value's memory."""
    return int(math.prod(value.shape) * value.dtype.itemsize)


def contiguous_steps(shape: Shape) -> tuple[int, ...]:
    """The strides of a C-ordered array, in elements.

    >>> from gradtape.jit.native.schedule.layout import contiguous_steps
    >>> contiguous_steps((2, 3, 4))
    (12, 4, 1)
    """
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step)
        step *= size
    return tuple(reversed(steps))


def index_part(array: np.ndarray[Any, Any], index: Any) -> np.ndarray[Any, Any]:
    """The part of an array that an index without arrays selects, always as an array."""
    index = index if isinstance(index, tuple) else (index,)
    return array[index if Ellipsis in index else (*index, Ellipsis)]


def diagonal_of(array: np.ndarray[Any, Any], instruction: AnyInstruction) -> np.ndarray[Any, Any]:
    """The diagonal that an instruction takes, as a view."""
    offset, first, second = (instruction.params[name] for name in ("offset", "axis1", "axis2"))
    return np.diagonal(array, offset, first, second)


def layout_of_view(view: np.ndarray[Any, Any], whole: np.ndarray[Any, Any], root: ArrayValue) -> Layout:
    """The layout of a view in the memory of the whole; raises `Unsupported` if it is a copy."""
    size = view.dtype.itemsize
    steps = tuple(stride // size for stride in view.strides)
    if not view.size:
        return Layout(root, 0, steps)
    start = (view.ctypes.data - whole.ctypes.data) // size
    reaches = [step * (length - 1) for step, length in zip(steps, view.shape, strict=True)]
    first = start + sum(reach for reach in reaches if reach < 0)
    last = start + sum(reach for reach in reaches if reach > 0)
    if first < 0 or last >= whole.size or not np.may_share_memory(view, whole):
        raise Unsupported("what should be a view is a copy")
    return Layout(root, start, steps)


def apply_view(instruction: AnyInstruction, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Apply a view instruction to an array; a single element is an array, too, so that it has an address."""
    if instruction.name in ("getitem", MOVING_VIEW):
        return index_part(array, instruction.params["index"])
    if not array.ndim and instruction.name in ("flip", "transpose"):
        return array
    assert instruction.op is not None  # views are rows of the table
    return np.asarray(instruction.op.kernel(array, **instruction.params))


def is_contiguous(value: ArrayValue, layout: Layout) -> bool:
    """Whether a layout is C order from the first element of its memory on."""
    wanted = contiguous_steps(value.shape)
    return (
        layout.offset == 0
        and not layout.moves
        and all(
            length == 1 or found == step for length, found, step in zip(value.shape, layout.steps, wanted, strict=True)
        )
    )


WINDOW_EDGE = 8  # elements of a row that a window may leave out,
WINDOW_ROW = 32  # and the length that a row has to have for that


def find_window(scatter: AnyInstruction) -> tuple[tuple[int, int], ...] | None:
    """The bounds along each axis that a scatter writes to; None if it cannot be a window read."""
    (operand,), (result,) = scatter.values, scatter.results
    if len(operand.shape) != len(result.shape) or 0 in operand.shape or not operand.shape:
        return None
    whole = np.empty(result.shape, result.dtype)
    part = index_part(whole, scatter.params["index"])
    if part.shape != operand.shape:
        return None
    steps = zip(part.strides, whole.strides, part.shape, strict=True)
    if any(length > 1 and one != other for one, other, length in steps):
        return None
    start = np.unravel_index((part.ctypes.data - whole.ctypes.data) // whole.itemsize, result.shape)
    window = tuple((int(low), int(low) + length) for low, length in zip(start, part.shape, strict=True))
    left_out = result.shape[-1] - operand.shape[-1]
    if left_out and (left_out > WINDOW_EDGE or operand.shape[-1] < WINDOW_ROW):
        return None
    return window
