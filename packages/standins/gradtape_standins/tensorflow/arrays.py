"""The names of TensorFlow that make, join, cut, index and rearrange tensors."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import concrete, leave_tape
from gradtape_standins.tensorflow import dtypes
from gradtape_standins.tensorflow.conversion import (
    Holder,
    axes,
    convert_to_array,
    integers,
    lengths,
    recorded,
    same_dtype,
    value_of,
)
from gradtape_standins.tensorflow.errors import UnimplementedError, explained, in_tensorflow_terms, invalid
from gradtape_standins.tensorflow.shapes import TensorShape
from gradtape_standins.tensorflow.tensor import TensorLike, check_kind, wrap

newaxis = None


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Any:
    """A tensor of the numbers in `value`; Python's floats become float32, its integers int32.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.constant([1.0, 2.0])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>
    """
    if isinstance(value, Holder):
        made = value_of(value, dtype)
        made = gt.Tensor(leave_tape(made, "tf.constant()"))
    else:
        made = gt.Tensor(convert_to_array(value, None if dtype is None else dtypes.numpy_of(dtype)))
    if shape is not None:
        wanted = lengths(shape)
        if made.size == 1:
            made = gt.Tensor(np.full(wanted, concrete(made).reshape(())))
        elif made.size != int(np.prod(wanted)):
            raise TypeError(explained(f"tf.constant: {made.size} values for a tensor of shape {wanted}"))
        else:
            made = gt.Tensor(concrete(made).reshape(wanted))
    return wrap(recorded(made))


def convert_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None) -> Any:
    """`value` as a tensor; tensors in lists are stacked, and gradients go through that.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.convert_to_tensor([tf.constant(1.0), 2.0]).shape
    TensorShape([2])
    """
    if dtype is None and dtype_hint is not None:
        try:
            return wrap(value_of(value, dtype_hint))
        except (TypeError, ValueError):
            return wrap(value_of(value))
    return wrap(value_of(value, dtype))


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor or a variable."""
    return isinstance(x, TensorLike)


@in_tensorflow_terms
def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """The same numbers in another dtype; a gradient passes between floating point types only.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.cast([1.7, -1.7], tf.int32).numpy()
    array([ 1, -1], dtype=int32)
    """
    value = value_of(x)
    wanted = dtypes.numpy_of(dtype)
    if (value.dtype.kind == "O") != (wanted.kind == "O"):
        names = [dtypes.as_dtype(kind).name for kind in (value.dtype, wanted)]
        raise UnimplementedError(
            None,
            None,
            explained(f"Cast {names[0]} to {names[1]} is not supported", "tf.strings.to_number(x), tf.as_string(x)"),
        )
    if value.dtype.kind == "c" and wanted.kind in "fiu":
        value = gt.real(value)
    return wrap(value if value.dtype == wanted else gt.astype(value, wanted))


@in_tensorflow_terms
def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Any:
    """The same numbers in another dtype, limited to what that can hold."""
    wanted = dtypes.as_dtype(dtype)
    return wrap(gt.astype(gt.clip(value_of(value), wanted.min, wanted.max), wanted.numpy))


@in_tensorflow_terms
def identity(input: Any, name: str | None = None) -> Any:
    """A new tensor with the same value; the gradient passes."""
    value = value_of(input)
    return wrap(gt.identity(value) if value.dtype.kind in "fc" else gt.Tensor(concrete(value)))


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Any:
    """`x`, which must have `shape` (None stands for any length)."""
    value = value_of(x)
    if not TensorShape(value.shape).is_compatible_with(shape):
        raise invalid(f"ensure_shape: the shape is {value.shape}; {TensorShape(shape)} is wanted")
    return wrap(value)


# -- making


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None, layout: Any = None) -> Any:
    """Zeros of a shape."""
    return wrap(gt.Tensor(np.zeros(lengths(shape), dtypes.numpy_of(dtype))))


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None, layout: Any = None) -> Any:
    """Ones of a shape."""
    return wrap(gt.Tensor(np.ones(lengths(shape), dtypes.numpy_of(dtype))))


@in_tensorflow_terms
def zeros_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Zeros of the shape (and dtype) of `input`."""
    value = value_of(input)
    return zeros(value.shape, value.dtype if dtype is None else dtype)


@in_tensorflow_terms
def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Ones of the shape (and dtype) of `input`."""
    value = value_of(input)
    return ones(value.shape, value.dtype if dtype is None else dtype)


@in_tensorflow_terms
def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Any:
    """A tensor of shape `dims`, filled with one value."""
    return wrap(gt.broadcast_to(value_of(value), lengths(dims)))


def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Any:
    """Ones on the diagonal, zeros elsewhere; once for each place of `batch_shape`."""
    matrix = np.eye(integers(num_rows), integers(num_columns), dtype=dtypes.numpy_of(dtype))
    if batch_shape is not None:
        matrix = np.broadcast_to(matrix, (*lengths(batch_shape), *matrix.shape)).copy()
    return wrap(gt.Tensor(matrix))


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range") -> Any:
    """Numbers from `start` up to `limit`, which is left out.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.range(3).numpy(), tf.range(0.0, 1.0, 0.5).numpy()
    (array([0, 1, 2], dtype=int32), array([0. , 0.5], dtype=float32))
    """
    if limit is None:
        start, limit = 0, start
    bounds = [concrete(value_of(x)) for x in (start, limit, delta)]
    if dtype is not None:
        wanted = dtypes.numpy_of(dtype)
    else:
        order = {name: place for place, name in enumerate(("int32", "int64", "float32", "float64"))}
        wanted = np.dtype(max((b.dtype.name for b in bounds), key=lambda n: order.get(n, 0)))
    return wrap(gt.Tensor(_evenly_spaced(bounds[0], bounds[1], bounds[2], wanted)))


def _evenly_spaced(start: Any, limit: Any, delta: Any, dtype: np.dtype[Any]) -> Any:
    """The numbers of `range`. How many floats there are is found in their own dtype, and each is start + i * delta."""
    for name, bound in {"start": start, "limit": limit, "delta": delta}.items():
        if bound.ndim:
            raise invalid(
                f"range: {name} has shape {bound.shape}; a number is wanted", f"{name}[0], or tf.size({name})"
            )
    if dtype.kind not in "iuf":
        raise invalid(f"range: numbers are wanted; these are {dtypes.as_dtype(dtype).name}", "tf.cast(..., tf.int32)")
    first, last, step = (bound.astype(dtype)[()] for bound in (start, limit, delta))
    if step == 0:
        raise invalid("range: delta is 0, which never arrives", "a delta that is not zero")
    if (step > 0 and first > last) or (step < 0 and first < last):
        side = "start <= limit when delta > 0" if step > 0 else "start >= limit when delta < 0"
        raise invalid(f"range: start={first}, limit={last} and delta={step}; TensorFlow wants {side}", "delta=-delta")
    if dtype.kind != "f":
        return np.arange(int(first), int(last), int(step), dtype=dtype)
    with np.errstate(all="ignore"):
        count = np.ceil(np.abs((last - first) / step))
    if not count < 2**31:
        raise invalid(f"range: start={first}, limit={last} and delta={step} make {count} numbers, which is too many")
    return first + np.arange(int(count)).astype(dtype) * step


@in_tensorflow_terms
def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Any:
    """`num` numbers from `start` to `stop`, both included, evenly spaced."""
    first = value_of(start)
    first, last = same_dtype([wrap(first) if not isinstance(start, Holder) else start, stop], "linspace")
    if first.dtype.kind not in "fc":
        first, last = gt.astype(first, np.float64), gt.astype(last, np.float64)
    return wrap(gt.linspace(first, last, integers(num), dtype=first.dtype, axis=axis))


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """For each index a row with `on_value` at its place; a row without one where the index is out of range."""
    if dtype is None:
        dtype = dtypes.float32 if on_value is None and off_value is None else _dtype_of(on_value, off_value)
    check_kind(value_of(indices), "iu", "one_hot")
    labels = value_of(indices)
    hot = gt.equal(gt.expand_dims(labels, -1), np.arange(integers(depth), dtype=labels.dtype))
    on = 1 if on_value is None else np.asarray(concrete(value_of(on_value)))
    off = 0 if off_value is None else np.asarray(concrete(value_of(off_value)))
    kind = dtypes.numpy_of(dtype)
    made = gt.where(hot, np.asarray(on, kind), np.asarray(off, kind))
    return wrap(made if axis in (None, -1) else gt.moveaxis(made, -1, axis))


def _dtype_of(*values: Any) -> Any:
    return next(value_of(v).dtype for v in values if v is not None)


# -- shape


@in_tensorflow_terms
def shape(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Any:
    """The length of each axis, as a tensor of integers."""
    return wrap(gt.Tensor(np.array(value_of(input).shape, dtypes.numpy_of(out_type))))


@in_tensorflow_terms
def rank(input: Any, name: str | None = None) -> Any:
    """The number of axes, as a tensor."""
    return wrap(gt.Tensor(np.array(value_of(input).ndim, np.int32)))


@in_tensorflow_terms
def size(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Any:
    """The number of elements, as a tensor."""
    return wrap(gt.Tensor(np.array(value_of(input).size, dtypes.numpy_of(out_type))))


@in_tensorflow_terms
def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """The same elements in another shape; one length may be -1.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.reshape(tf.range(6), [2, -1]).shape
    TensorShape([2, 3])
    """
    return wrap(gt.reshape(value_of(tensor), lengths(shape)))


@in_tensorflow_terms
def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Any:
    """The axes in the order `perm` (reversed by default)."""
    value = gt.transpose(value_of(a), axes(perm))
    return wrap(gt.conjugate(value) if conjugate and value.dtype.kind == "c" else value)


@in_tensorflow_terms
def expand_dims(input: Any, axis: Any, name: str | None = None) -> Any:
    """With a new axis of length 1 at `axis`."""
    return wrap(gt.expand_dims(value_of(input), integers(axis)))


@in_tensorflow_terms
def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """Without axes of length 1 (all of them, or those in `axis`)."""
    chosen = axes(axis)
    return wrap(gt.squeeze(value_of(input), None if chosen == () else chosen))


@in_tensorflow_terms
def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    """Stretched to `shape`."""
    return wrap(gt.broadcast_to(value_of(input), lengths(shape)))


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape of what is computed from arrays of two shapes."""
    return TensorShape(np.broadcast_shapes(tuple(shape_x), tuple(shape_y)))


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Any:
    """The shape of what is computed from arrays of two shapes, as a tensor."""
    return wrap(gt.Tensor(np.array(np.broadcast_shapes(lengths(shape_x), lengths(shape_y)), np.int32)))


@in_tensorflow_terms
def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """Repeated `multiples` times along each axis."""
    value, times = value_of(input), lengths(multiples)
    if len(times) != value.ndim:
        raise invalid(f"tile: {len(times)} multiples for a tensor of {value.ndim} axes", "one for each axis")
    return wrap(gt.tile(value, times))


@in_tensorflow_terms
def repeat(input: Any, repeats: Any, axis: Any = None, name: str | None = None) -> Any:
    """Each element, or slice along `axis`, repeated."""
    return wrap(gt.repeat(value_of(input), integers(repeats), integers(axis)))


@in_tensorflow_terms
def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0, name: str | None = None) -> Any:
    """With `paddings` (one pair for each axis) put around it."""
    widths, value, how = integers(paddings), value_of(tensor), mode.lower()
    if how not in ("constant", "reflect", "symmetric"):
        raise ValueError(explained(f"pad: mode={mode!r}; CONSTANT, REFLECT or SYMMETRIC is wanted"))
    if how != "constant":
        return wrap(gt.pad(value, widths, how))
    return wrap(gt.pad(value, widths, how, constant_values=concrete(value_of(constant_values, value.dtype)).item()))


@in_tensorflow_terms
def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """In reverse order along the axes in `axis`."""
    return wrap(gt.flip(value_of(tensor), axes(axis)))


@in_tensorflow_terms
def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Any:
    """Shifted along `axis`; what falls off one end comes in at the other."""
    return wrap(gt.roll(value_of(input), axes(shift), axes(axis)))


# -- joining and cutting


@in_tensorflow_terms
def concat(values: Any, axis: Any, name: str = "concat") -> Any:
    """Joined along an axis that is there.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.concat([[1.0, 2.0], [3.0]], axis=0).numpy()
    array([1., 2., 3.], dtype=float32)
    """
    parts = [values] if isinstance(values, Holder) and values._value.ndim == 0 else list(values)
    return wrap(gt.concatenate(same_dtype(parts, "concat"), integers(axis)))


@in_tensorflow_terms
def stack(values: Any, axis: int = 0, name: str = "stack") -> Any:
    """Joined along a new axis."""
    return wrap(gt.stack(same_dtype(values, "stack"), integers(axis)))


parallel_stack = stack


@in_tensorflow_terms
def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Any]:
    """The slices along `axis`, as a list."""
    whole = value_of(value)
    if num is not None and whole.shape[integers(axis)] != num:
        raise invalid(f"unstack: num={num}, and axis {axis} has the length {whole.shape[integers(axis)]}")
    return [wrap(part) for part in gt.unstack(whole, axis=integers(axis))]


@in_tensorflow_terms
def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: str = "split") -> list[Any]:
    """Cut along `axis`: into so many equal parts, or into parts of the given sizes."""
    whole, sizes, place = value_of(value), integers(num_or_size_splits), integers(axis)
    if isinstance(sizes, int):
        if whole.shape[place] % sizes:
            raise invalid(
                f"split: axis {place} of length {whole.shape[place]} in {sizes} equal parts", "give the sizes"
            )
        return [wrap(part) for part in gt.split(whole, sizes, place)]
    known = sum(s for s in sizes if s >= 0)
    sizes = [whole.shape[place] - known if s < 0 else s for s in sizes]
    if sum(sizes) != whole.shape[place]:
        raise invalid(f"split: the sizes {sizes} do not add up to {whole.shape[place]}, the length of axis {place}")
    return [wrap(part) for part in gt.split(whole, np.cumsum(sizes)[:-1].tolist(), place)]


@in_tensorflow_terms
def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """`size` elements from `begin` along each axis; a size of -1 takes all that are left."""
    value = value_of(input_)
    index = tuple(builtins.slice(b, None if s == -1 else b + s) for b, s in zip(lengths(begin), lengths(size)))
    return wrap(value[index])


@in_tensorflow_terms
def strided_slice(input_: Any, begin: Any, end: Any, strides: Any = None, name: str | None = None, **masks: Any) -> Any:
    """From `begin` to `end` along each axis, by `strides`."""
    if any(masks.values()):
        raise NotImplementedError(explained("strided_slice: masks are not in this stand-in", "x[begin:end, ..., None]"))
    starts = lengths(begin)
    steps = lengths(strides) if strides is not None else (1,) * len(starts)
    return wrap(value_of(input_)[tuple(builtins.slice(b, e, s) for b, e, s in zip(starts, lengths(end), steps))])


@in_tensorflow_terms
def meshgrid(*args: Any, indexing: str = "xy", name: str | None = None) -> list[Any]:
    """The coordinates of a grid, one tensor for each axis."""
    return [wrap(part) for part in gt.meshgrid(*(value_of(x) for x in args), indexing=indexing)]


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: str | None = None) -> Any:
    """For each length a row that is true that many times."""
    counts = np.asarray(concrete(value_of(lengths)))
    most = integers(maxlen) if maxlen is not None else int(counts.max(initial=0))
    return wrap(gt.Tensor((np.arange(most) < counts[..., None]).astype(dtypes.numpy_of(dtype))))


def invert_permutation(x: Any, name: str | None = None) -> Any:
    """The permutation that undoes `x`."""
    value = value_of(x)
    check_kind(value, "iu", "invert_permutation")
    order = np.asarray(concrete(value))
    if order.ndim != 1 or not np.array_equal(np.sort(order), np.arange(order.size)):
        raise invalid(
            f"invert_permutation: a permutation of 0, 1, ... {max(order.size - 1, 0)} in one axis is wanted; the shape "
            f"is {order.shape}, and a number is missing, repeated or out of range"
        )
    return wrap(gt.Tensor(np.argsort(order).astype(order.dtype)))


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor as an array."""
    return np.asarray(concrete(value_of(tensor)))


__all__ = ["broadcast_dynamic_shape", "broadcast_static_shape", "broadcast_to", "cast", "concat", "constant"]
__all__ += ["convert_to_tensor", "ensure_shape", "expand_dims", "eye", "fill", "get_static_value", "identity"]
__all__ += ["is_tensor", "linspace", "meshgrid", "newaxis", "one_hot", "ones", "ones_like", "pad", "parallel_stack"]
__all__ += ["range", "rank", "repeat", "reshape", "reverse", "roll", "saturate_cast", "sequence_mask", "shape"]
__all__ += ["size", "slice", "split", "squeeze", "stack", "strided_slice", "tile", "transpose", "unstack", "zeros"]
__all__ += ["zeros_like"]
