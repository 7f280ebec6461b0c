"""Instructions that only native code knows, and how they are written.

part            puts its operand into a part of its result, the rest of which other parts fill
table           picks elements of an array in memory, `params["table"]`, at positions
within          a position along an axis, counted from its start, after a look whether there is one
filling         adds its first operand up in a new array, at the positions that are the second
held            an array that is the same in every run
callback        a kernel that native code calls, `params["instruction"]`
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from gradtape.core.rules import TABLE as ROWS
from gradtape.jit.native.lower import factor, pool

DType = np.dtype[Any]
Shape = tuple[int, ...]

PART = "part"
GATHER = "table"
WITHIN = "within"
FILLING = "filling"
HELD = "held"
CALLBACK = "callback"
CHECKED = frozenset({GATHER, WITHIN, FILLING, CALLBACK, *factor.CHECKED, *pool.PICKED})
"""Instructions that may fail: a position does not exist, a matrix has no factors, or a kernel raises."""


# Classes that are not frozen are quicker to load, and to make; these are never changed all the same.


@dataclasses.dataclass(eq=False)
class Made:
    """A value that only native code knows."""

    shape: Shape
    dtype: DType


@dataclasses.dataclass(eq=False)
class Number:
    """A Python number among operands."""

    value: Any


@dataclasses.dataclass(eq=False)
class Changed:
    """An instruction that only native code knows, or one with other operands."""

    operands: tuple[Any, ...]
    results: tuple[Any, ...]
    name: str
    params: dict[str, Any]
    op: Any = None
    effect: bool = False

    @property
    def values(self) -> tuple[Any, ...]:
        return tuple(x for x in self.operands if hasattr(x, "dtype"))


class Writer:
    """Writes instructions down whose results are new."""

    def __init__(self) -> None:
        self.made: list[Changed] = []

    def __call__(self, name: str, *operands: Any, shape: Shape | None = None, dtype: Any = None, **params: Any) -> Any:
        values = [x for x in operands if hasattr(x, "dtype")]
        if shape is None:
            shape = np.broadcast_shapes(*[x.shape for x in values])
        result = Made(shape, values[0].dtype if dtype is None else np.dtype(dtype))
        wrapped = tuple(x if hasattr(x, "shape") else Number(x) for x in operands)
        self.made.append(Changed(wrapped, (result,), name, params, ROWS.get(name)))
        return result

    def reshaped(self, value: Any, shape: Shape) -> Any:
        """The value in another shape."""
        result = self("reshape", value, shape=shape)
        self.made[-1].params["shape"] = shape
        return result

    def finished(self, result: Any) -> list[Changed]:
        """All of it, with what was written last as the value of another."""
        self.made[-1] = dataclasses.replace(self.made[-1], results=(result,))
        return self.made


def held(write: Writer, array: Any) -> Any:
    """An array that is known beforehand, without the axes along which it is the same."""
    array = np.asarray(array)
    for axis in range(array.ndim):
        start = array.take([0], axis) if array.shape[axis] else array
        if array.shape[axis] > 1 and np.array_equal(array, np.broadcast_to(start, array.shape)):
            array = start
    result = Made(array.shape, array.dtype)
    write.made.append(Changed((), (result,), HELD, {"array": np.ascontiguousarray(array).reshape(array.shape)}))
    return result
