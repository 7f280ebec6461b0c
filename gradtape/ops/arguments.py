"""How operations read their arguments, and what their batching rules have in common."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from gradtape.core.explain_hooks import suspect
from gradtape.core.operation import PLAIN, Op, apply, holds_tensor, stack_nested, tensor_of
from gradtape.core.pytree import is_sequence
from gradtape.core.tensor import Tensor, plain
from gradtape.core.typing import Array, Axis, DTypeLike, ShapeLike, TensorLike
from gradtape.errors import DtypeError, GradTapeError, OperandError
from gradtape.explain import messages
from gradtape.numpy_dispatch.protocols import write_into

Axes = tuple[int, ...] | None


def as_value(x: TensorLike) -> Array:
    """`x` as something with a shape: tensors as they are, the rest as arrays of numbers."""
    if isinstance(x, Tensor):
        return x
    if type(x) not in PLAIN and hasattr(x, "__gradtape_tensor__"):
        return as_value(tensor_of(x))
    if is_sequence(type(x)) and holds_tensor(x):
        return _stack(x)
    array = x if type(x) is np.ndarray else np.asarray(x)  # of a matrix, say, the numbers
    if array.dtype.hasobject:
        raise argument_error(DtypeError, f"an array of shape {array.shape} of Python objects.", "array.astype(float)")
    return array


def _stack(values: Any) -> Array:
    """A nested list of tensors and numbers as one tensor."""
    from gradtape.ops.creation_from import array

    made: Array = array(values)
    return made


stack_nested.append(_stack)


def argument_error(kind: type[GradTapeError], what: str, fix: str) -> GradTapeError:
    """The error for an argument that an operation cannot take, at the user's line."""
    return messages.refused_argument(kind, what, fix)


def write_result_into(out: Array, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`out`, with what `function` returns written into it, as its keyword of that name asks for."""
    return write_into(function(*args, **kwargs), out, f"{function.__name__}(out=...)")


def one_axis(axis: Axis, ndim: int) -> int:
    """An axis as a non-negative integer."""
    if isinstance(axis, (list, tuple)):
        raise argument_error(OperandError, f"axis {axis!r}: one axis is wanted here.", "an integer")
    return axes_tuple(axis, ndim)[0]


def axes_tuple(axis: Any, ndim: int, repeated: bool = False) -> tuple[int, ...]:
    """One axis or several as a tuple of non-negative integers."""
    if type(axis) is int and -ndim <= axis < ndim:
        return (axis % ndim,)
    if isinstance(axis, Tensor | np.ndarray):
        axis = plain(axis).tolist()
    try:
        return normalize_axis_tuple(axis, ndim, allow_duplicate=repeated)
    except TypeError:
        raise argument_error(
            OperandError, f"axis {axis!r} is not an integer.", "an integer, or a tuple of them"
        ) from None
    except ValueError:  # NumPy's AxisError is one
        raise messages.no_such_axis(axis, ndim) from None


def axes_or_none(axis: Any, ndim: int) -> Axes:
    """Axes as a tuple of non-negative integers, or None for all; a list of them is refused, as NumPy's sums do."""
    if type(axis) is list:
        raise argument_error(OperandError, f"axis {axis!r} is a list.", "an integer, or a tuple of them")
    return None if axis is None else axes_tuple(axis, ndim)


def reduced_axes(axis: Axis, ndim: int) -> Axes:
    """As `axes_or_none`, but a single number may have the axis 0, as NumPy lets it in sums, products and extremes."""
    if axis is None or (not ndim and isinstance(axis, int) and axis in (0, -1)):
        return None
    return axes_or_none(axis, ndim)


def all_axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    """Axes as a tuple of non-negative integers; None means every one of them."""
    return tuple(range(ndim)) if axis is None else axes_tuple(axis, ndim)


def note_reduction(out: Array, x: Array, axes: Axes, keepdims: bool) -> Any:
    """`out`, a reduction of `x`; if it fits the axis that is gone by its length, where it falls is looked at when a
    gradient is taken.
    """
    if axes is None or keepdims or len(axes) != 1 or not axes[0]:
        return out
    if x.shape[axes[0]] == x.shape[axes[0] - 1] > 1:
        node = getattr(out, "_node", None)
        if node is not None and node.op is not None and node.parents:
            suspect(node)
    return out


def cast_to(x: Array, dtype: DTypeLike) -> Array:
    """`x` in `dtype`, where one is asked for."""
    return x if dtype is None or x.dtype == np.dtype(dtype) else x.astype(dtype)


def flat_or_axis(x: TensorLike, axis: int | None, number: bool = False) -> tuple[Array, int]:
    """`x` and a non-negative axis; without an axis, all elements of `x` in a row and axis 0.

    With `number`, a single number has an axis 0, where NumPy lets it have one.
    """
    x = as_value(x)
    if axis is None or (number and reduced_axes(axis, x.ndim) is None):
        return x if x.ndim == 1 else x.reshape((-1,)), 0
    return x, one_axis(axis, x.ndim)


def require_order(x: Array, name: str) -> Array:
    """`x`, if its numbers have an order."""
    if x.dtype.kind == "c":
        raise argument_error(
            OperandError,
            f"{name} of complex numbers ({x.dtype}): they have no order.",
            f"{name} of the real and of the imaginary part, or of the absolute value",
        )
    return x


def as_real_floating(input: TensorLike, name: str) -> Array:
    """`input` as real floating point numbers."""
    input = as_value(input)
    return require_order(input, name) if input.dtype.kind in "fc" else input.astype(float)


def as_shape(shape: ShapeLike) -> tuple[int, ...]:
    """A shape as a tuple: of one length, or of a sequence of them."""
    if isinstance(shape, Tensor) and shape.ndim == 1:  # an array of the program's, which `jit` hands in
        shape = plain(shape).tolist()
    several = shape if isinstance(shape, (list, tuple, np.ndarray)) else (shape,)
    try:
        return tuple([operator.index(n) for n in several])
    except TypeError:
        raise argument_error(
            OperandError, f"shape {shape!r} is not of integers.", "integers: n // 2, not n / 2"
        ) from None


def index_at_axis(axis: int, place: Any) -> tuple[Any, ...]:
    """The index that has `place` at `axis` and everything before it."""
    return (*(slice(None),) * axis, place)


def batch_shift_axes(*names: str) -> Any:
    """A batching rule for operations whose keywords in `names` are non-negative axes (or tuples of them)."""

    def batch(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
        moved = dict(params)
        for name in names:
            axis = moved[name]
            moved[name] = axis + 1 if isinstance(axis, int) else tuple(a + 1 for a in axis)
        return apply(op, tuple(values), moved)

    return batch


def restore_reduced_axes(reduced: Array, axis: Axes, keepdims: bool, ndim: int) -> Any:
    """A reduced array with its axes back, at length 1, so that it broadcasts against what it came from."""
    if keepdims or not ndim:
        return reduced
    if axis is None:
        return reduced.reshape((1,) * ndim)
    lengths = iter(reduced.shape)
    return reduced.reshape(tuple([1 if i in axis else next(lengths) for i in range(ndim)]))


def stretch(x: Array, shape: tuple[int, ...]) -> Any:
    """`x` repeated to `shape`: a small array is filled, a large one is a view."""
    if isinstance(x, (np.ndarray, np.generic)) and math.prod(shape) <= 4096:
        filled = np.empty(shape, x.dtype)
        filled[...] = x
        return filled
    return np.broadcast_to(x, shape)
