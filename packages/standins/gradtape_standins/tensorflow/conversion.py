"""From what a user writes to a gradtape tensor, by TensorFlow's rules about dtypes.

Python's floats are float32 and its integers int32; NumPy's arrays keep their dtype. Where a tensor is involved the
other operand takes its dtype if no information is lost in kind, and two tensors of different dtypes never mix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import concrete
from gradtape_standins.tensorflow import dtypes
from gradtape_standins.tensorflow.errors import explained, invalid
from gradtape_standins.tensorflow.execution_context import graph_tape

_NUMBERS = (bool, int, float, complex)
_INT32 = np.iinfo(np.int32)
_RANK = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


class Holder:
    """What holds a gradtape tensor as `_value`: tensors and variables."""

    _value: gt.Tensor

    def __gradtape_tensor__(self) -> gt.Tensor:
        """What gradtape's own functions compute with."""
        return self._value


def value_of(x: Any, dtype: Any = None) -> Any:
    """The gradtape tensor that `x` stands for; of `dtype`, which a tensor must already have."""
    if not isinstance(x, Holder):
        if hasattr(x, "__tf_tensor__"):
            return value_of(x.__tf_tensor__())
        return new_value(x, dtype)
    value = x._value
    if dtype is not None and value.dtype != dtypes.numpy_of(dtype):
        wanted = dtypes.as_dtype(dtype)
        raise ValueError(
            explained(
                f"a tensor of dtype {wanted.name} is wanted; this one is {dtype_name(value)}, and TensorFlow "
                "converts no dtypes by itself",
                f"tf.cast(..., tf.{wanted.name})",
            )
        )
    return value


def new_value(x: Any, dtype: Any = None) -> gt.Tensor:
    """A gradtape tensor of the numbers in `x`; tensors in lists are stacked, and gradients go through that."""
    if isinstance(x, gt.Tensor):
        return x
    if isinstance(x, list | tuple) and _holds_tensors(x):
        return _packed(x, dtype)
    return recorded(gt.Tensor(convert_to_array(x, None if dtype is None else dtypes.numpy_of(dtype))))


def recorded(made: gt.Tensor) -> gt.Tensor:
    """A new tensor, watched by the tape of a `tf.function` that asks for the gradients of what came before."""
    tape = graph_tape.get()
    if tape is not None and made.dtype.kind in "fc":
        tape.watch(made)
    return made


def convert_to_array(x: Any, wanted: np.dtype[Any] | None = None) -> Any:
    """A fresh array of the numbers (or strings) in `x`, of the dtype that TensorFlow would give it."""
    if x is None:
        raise ValueError(explained("None has no value; a tensor, an array or a number is wanted"))
    if isinstance(x, dtypes.DType | dict | set):
        raise ValueError(explained(f"a {type(x).__name__} is no tensor; an array, a number or nested lists are wanted"))
    try:
        array = np.array(x)
    except (ValueError, TypeError):
        raise ValueError(
            explained(
                "these nested lists are not rectangular: rows of different lengths make no tensor",
                "pad the rows to one length",
            )
        ) from None
    if array.dtype.kind in "SUO":
        return _strings(x, array, wanted)
    from_numpy = isinstance(x, np.ndarray | np.generic) or (isinstance(x, list | tuple) and _holds_numpy(x))
    if wanted is None:
        if from_numpy:
            dtypes.as_dtype(array.dtype)
            return array
        if array.dtype == np.float64:
            return array.astype(np.float32)
        if array.dtype == np.int64 and (not array.size or (_INT32.min <= array.min() <= array.max() <= _INT32.max)):
            return array.astype(np.int32)
        return array
    if wanted.kind == "O" or (_RANK[array.dtype.kind] > _RANK[wanted.kind] and not from_numpy and array.size):
        raise TypeError(explained(f"Cannot convert {_shown(x)} to EagerTensor of dtype {dtypes.as_dtype(wanted).name}"))
    with np.errstate(all="ignore"):
        return array.astype(wanted)


def _strings(x: Any, array: Any, wanted: np.dtype[Any] | None) -> Any:
    found = np.array([s.encode() if isinstance(s, str) else s for s in array.ravel().tolist()] + [None], object)[:-1]
    if not all(isinstance(s, bytes) for s in found):
        raise ValueError(
            explained(f"a value of type {type(x).__name__} is no tensor; an array, a number or nested lists are wanted")
        )
    if wanted is not None and wanted.kind != "O":
        raise TypeError(explained(f"Cannot convert {_shown(x)} to EagerTensor of dtype {dtypes.as_dtype(wanted).name}"))
    return found.reshape(array.shape)


def _shown(x: Any) -> str:
    text = repr(x)
    return text if len(text) <= 40 else f"a {type(x).__name__}"


def _holds_tensors(x: Any) -> bool:
    return any(isinstance(item, Holder) or (isinstance(item, list | tuple) and _holds_tensors(item)) for item in x)


def _holds_numpy(x: Any) -> bool:
    for item in x:
        if isinstance(item, np.ndarray | np.generic) or (isinstance(item, list | tuple) and _holds_numpy(item)):
            return True
    return False


def _packed(x: Any, dtype: Any) -> gt.Tensor:
    wanted = _first_dtype(x) if dtype is None else dtype
    parts = [value_of(item, wanted) if not isinstance(item, list | tuple) else new_value(item, wanted) for item in x]
    stacked: gt.Tensor = gt.stack(parts)
    return stacked


def _first_dtype(x: Any) -> Any:
    for item in x:
        if isinstance(item, Holder):
            return item._value.dtype
        if isinstance(item, list | tuple) and _holds_tensors(item):
            return _first_dtype(item)
    return None


def pair(x: Any, y: Any, what: str) -> tuple[Any, Any]:
    """Two operands of one dtype for the operation `what`; a Python number may stay one beside a tensor."""
    if isinstance(x, Holder):
        return x._value, _beside(y, x._value.dtype, what)
    if isinstance(y, Holder):
        return _beside(x, y._value.dtype, what), y._value
    first = value_of(x)
    return first, _beside(y, first.dtype, what)


def tensors(x: Any, y: Any, what: str) -> tuple[gt.Tensor, gt.Tensor]:
    """Two tensors of one dtype for the operation `what`."""
    one, other = pair(x, y, what)
    dtype = one.dtype if isinstance(one, gt.Tensor) else other.dtype
    return _as_tensor(one, dtype), _as_tensor(other, dtype)


def _beside(y: Any, dtype: np.dtype[Any], what: str) -> Any:
    """`y` as an operand beside one of `dtype`."""
    if isinstance(y, Holder):
        if y._value.dtype != dtype:
            raise _mixed(what, dtype, y._value.dtype)
        return y._value
    if type(y) is float and dtype.kind == "f":
        return y
    if isinstance(y, _NUMBERS) and not isinstance(y, np.generic):
        kind = "b" if isinstance(y, bool) else "i" if isinstance(y, int) else "f" if isinstance(y, float) else "c"
        if dtype.kind not in _RANK or _RANK[kind] > _RANK[dtype.kind]:
            raise _inconvertible(y, dtype, what)
        return float(y) if dtype.kind == "f" and isinstance(y, int) else gt.Tensor(np.array(y).astype(dtype))
    if y is None:
        raise ValueError(
            explained(f"{what}: Attempt to convert a value (None) with an unsupported type (NoneType) to a Tensor")
        )
    if isinstance(y, str) and dtype.kind != "O":
        raise _inconvertible(y, dtype, what)
    try:
        return value_of(y, dtype)
    except (TypeError, ValueError):
        other = value_of(y)
        if other.dtype != dtype:
            raise _mixed(what, dtype, other.dtype) from None
        raise


def _inconvertible(y: Any, dtype: np.dtype[Any], what: str) -> Exception:
    """The error for a Python value that a tensor of `dtype` cannot be combined with; `add` looks at it as a tensor."""
    name = dtypes.as_dtype(dtype).name
    if what == "add":
        return _mixed(what, dtype, convert_to_array(y).dtype)
    fix = "" if isinstance(y, str) else f"tf.cast(x, tf.{dtypes.as_dtype(convert_to_array(y).dtype).name}) first"
    return TypeError(explained(f"{what}: Cannot convert {y!r} to EagerTensor of dtype {name}", fix))


def _mixed(what: str, one: np.dtype[Any], other: np.dtype[Any]) -> Exception:
    names = dtypes.as_dtype(one).name, dtypes.as_dtype(other).name
    target = names[0] if _RANK.get(one.kind, 0) >= _RANK.get(other.kind, 0) else names[1]
    return invalid(
        f"{what}: {names[0]} and {names[1]} do not mix; TensorFlow converts no dtypes by itself",
        f"cast one of them, as in tf.cast(..., tf.{target}), or write the constant as one of dtype {target}",
    )


def same_dtype(values: Any, what: str) -> list[gt.Tensor]:
    """All of `values` as gradtape tensors of the dtype of the first tensor among them (or of the first of all)."""
    values = list(values)
    if not values:
        raise ValueError(explained(f"{what}: at least one tensor is wanted; the list is empty"))
    wanted = _first_dtype(values)
    if wanted is None:
        wanted = value_of(values[0]).dtype
    return [_as_tensor(_beside(value, wanted, what), wanted) for value in values]


def _as_tensor(value: Any, dtype: np.dtype[Any]) -> gt.Tensor:
    return value if isinstance(value, gt.Tensor) else gt.Tensor(np.array(value, dtype))


def dtype_name(value: Any) -> str:
    """TensorFlow's name for the dtype of a gradtape tensor."""
    return dtypes.as_dtype(value.dtype).name


def integers(x: Any) -> Any:
    """Static integers (an axis, a shape, sizes), however they are written: numbers, lists, arrays or tensors."""
    if x is None or isinstance(x, int):
        return x
    if isinstance(x, Holder):
        return np.asarray(concrete(x._value)).tolist()
    if isinstance(x, list | tuple):
        return [integers(item) for item in x]
    return np.asarray(x).tolist()


def lengths(shape: Any) -> tuple[int, ...]:
    """A shape, however it is written; a number is a shape with one axis."""
    found = integers(shape)
    return (found,) if isinstance(found, int) else tuple(found)


def axes(axis: Any) -> Any:
    """An axis or a tuple of axes for gradtape; None for all."""
    found = integers(axis)
    return tuple(found) if isinstance(found, list) else found
