"""Arrays in nested arguments, taken out and put back."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from gradtape.core.operation import Lifted
from gradtape.core.pytree import leaves, rebuild
from gradtape.core.tensor import Tensor, is_tracked

Function = Callable[..., Any]
Arrays = list[Any]  # arrays, or tensors where something records or a batch is under way
NUMBERS = "fciub"  # the kinds of arrays that hold numbers
PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic, np.dtype, slice, type, types.EllipsisType)


class ArrayTemplate:
    """A nested structure whose arrays were taken out; everything else is in place, and `fill` puts arrays back."""

    def __init__(self, tree: Any, flat: list[Any], flags: list[bool]) -> None:
        self.slots = [index for index, flag in enumerate(flags) if flag]
        self.were_tensors = [isinstance(flat[slot], Tensor) for slot in self.slots]
        self.rest: list[Any] = [None if flag else item for item, flag in zip(flat, flags, strict=True)]
        # most structures are one value, or a list of them: these are put together without a look into each
        self._type = type(tree) if type(tree) in (list, tuple) and list(map(id, tree)) == list(map(id, flat)) else None
        self.tree = self._filled(tree, self.rest)

    def fill(self, arrays: Iterable[Any], others: Callable[[Any], Any] | None = None) -> Any:
        """The structure with `arrays` in their places; `others` is what stands for the rest, if not itself."""
        filled = list(self.rest) if others is None else [others(item) for item in self.rest]
        for slot, was_tensor, array in zip(self.slots, self.were_tensors, arrays, strict=True):
            filled[slot] = Tensor(array) if was_tensor and not isinstance(array, Tensor) else array
        return self._filled(self.tree, filled)

    def _filled(self, tree: Any, flat: list[Any]) -> Any:
        return rebuild(tree, flat) if self._type is None else self._type(flat)


def split_arrays(tree: Any, is_array: Callable[[Any], bool]) -> tuple[Arrays, ArrayTemplate]:
    """The arrays of a structure, and the rest of it."""
    flat = leaves(tree)
    flags = [is_array(item) for item in flat]
    return [item for item, flag in zip(flat, flags, strict=True) if flag], ArrayTemplate(tree, flat, flags)


def is_array(value: Any) -> bool:
    """Whether an argument or a residual can carry a derivative: a tensor, or an array of numbers."""
    return isinstance(value, Tensor) or (isinstance(value, np.ndarray) and value.dtype.kind in NUMBERS)


def is_result(value: Any) -> bool:
    """Whether a result is a number or an array; integers and the like are handed through."""
    return is_array(value) or (isinstance(value, float | complex | np.generic) and np.asarray(value).dtype.kind in "fc")


def is_recorded(value: Any) -> bool:
    """Whether somebody records operations on `value`, or on what it holds if it belongs to a batch."""
    while isinstance(value, Tensor):
        if is_tracked(value):
            return True
        value = getattr(value, "value", None)
    return False


def array_if_untracked(value: Any) -> Any:
    """The array of a tensor that nobody records; anything else as it is."""
    if not isinstance(value, Tensor) or isinstance(value, Lifted) or is_tracked(value):
        return value
    return value._array


def zeros_like(value: Any) -> Any:
    """Zeros of the shape and dtype of an array, a number's own zero, and None for what is neither."""
    if hasattr(value, "shape"):
        return np.zeros(value.shape, value.dtype)
    return type(value)(0) if isinstance(value, int | float | complex) else None
