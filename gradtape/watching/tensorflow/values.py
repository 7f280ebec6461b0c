"""Values of TensorFlow: what is a tensor or a variable, their shapes and arrays."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.framework import tensor as tensor_lib
from tensorflow.python.ops import resource_variable_ops

from gradtape.watching.recorder import BYTES_HELD_AT_MOST

EagerTensor = ops.EagerTensor
EagerBase: Any = ops._EagerTensorBase
to_numpy = EagerBase._numpy
"""The array of an eager tensor, which may share its memory; not the public method, which is watched."""
FLOATING = "fc"


def is_eager(value: Any) -> bool:
    """Whether a value is a tensor that has its numbers."""
    return isinstance(value, EagerTensor)


def is_symbolic(value: Any) -> bool:
    """Whether a value is a tensor of a graph that is being built."""
    return isinstance(value, tensor_lib.Tensor) and not isinstance(value, EagerTensor) and hasattr(value, "op")


def handle_of(value: Any) -> Any:
    """The handle of a variable of TensorFlow or Keras; None for other values."""
    if isinstance(value, resource_variable_ops.BaseResourceVariable):
        return value.handle
    if type(value).__module__.startswith("keras.") and hasattr(value, "_value"):
        inner = value._value
        return inner.handle if isinstance(inner, resource_variable_ops.BaseResourceVariable) else None
    return None


def variable_of(value: Any) -> Any:
    """The variable of TensorFlow that is, or is inside, a variable of TensorFlow or Keras."""
    return value if isinstance(value, resource_variable_ops.BaseResourceVariable) else value._value


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """The dtype of an array with such elements; that of objects for texts, resources and the like."""
    try:
        found: np.dtype[Any] = np.dtype(dtypes.as_dtype(dtype).as_numpy_dtype)
    except (TypeError, AttributeError, KeyError):
        return np.dtype(object)
    return found


def is_floating(dtype: Any) -> bool:
    """Whether elements of a dtype can have gradients."""
    known = dtypes.as_dtype(dtype)
    return bool(known.is_floating or known.is_complex)


class HeldTensor:
    """An operand, held until the record is released; `budget` counts the bytes that are held in all."""

    __slots__ = ("_count", "_size", "_tensor")

    def __init__(self, tensor: Any, count: HeldBytes, size: int) -> None:
        self._tensor = tensor
        self._count = count
        self._size = size
        count.bytes += size

    def array(self) -> Any:
        """The numbers; None if they are no array."""
        return array_in(self._tensor)

    @property
    def tensor(self) -> Any:
        """The tensor itself."""
        return self._tensor

    def __del__(self) -> None:
        self._count.bytes -= self._size


class HeldBytes:
    """How many bytes are held for explanations."""

    def __init__(self) -> None:
        self.bytes = 0

    def hold(self, tensor: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> HeldTensor | None:
        """A reference to a tensor; None if too much would be held."""
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        return HeldTensor(tensor, self, size) if self.bytes + size <= BYTES_HELD_AT_MOST else None


class SeenTensor:
    """A result, as long as the program itself holds it."""

    __slots__ = ("_reference",)

    def __init__(self, tensor: Any) -> None:
        self._reference = weakref.ref(tensor)

    def array(self) -> Any:
        """The numbers; None if the tensor is gone."""
        tensor = self._reference()
        return None if tensor is None else array_in(tensor)

    @property
    def tensor(self) -> Any:
        """The tensor itself; None if it is gone."""
        return self._reference()


_arrays: dict[int, tuple[weakref.ref[Any], Any]] = {}
ARRAYS_AT_MOST = 4096


def array_in(tensor: Any) -> Any:
    """The array of an eager tensor, the same one each time as long as the tensor lives; None for others."""
    if not isinstance(tensor, EagerTensor):
        return None
    known = _arrays.get(id(tensor))
    if known is not None and known[0]() is tensor:
        return known[1]
    if numpy_dtype(tensor.dtype).kind not in "fciub":
        return None
    array = to_numpy(tensor)
    if len(_arrays) >= ARRAYS_AT_MOST:
        _arrays.clear()
    key = id(tensor)
    _arrays[key] = weakref.ref(tensor, lambda _: _arrays.pop(key, None)), array
    return array


def forget_arrays() -> None:
    """Release the arrays that were made."""
    _arrays.clear()
