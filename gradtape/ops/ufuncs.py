"""What ufuncs do besides being called: `reduce`, `accumulate`, `reduceat`, `outer`, `at`, and calls with keywords.

Each is made of the operations that the ufuncs themselves are. Ufuncs without a derivative (comparisons, logic, bits)
run as NumPy runs them, and what comes out is a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import constant, linear
from gradtape.core.tensor import Tensor, is_tracked, plain
from gradtape.core.typing import Array, Axis, DTypeLike, TensorLike
from gradtape.errors import IndexingError, OperandError, ShapeError
from gradtape.explain import messages
from gradtape.numpy_dispatch.protocols import (
    ACCUMULATIONS,
    BY_NAME,
    COMPOSED,
    REDUCTIONS,
    answers,
    operation_for,
    write_into,
)
from gradtape.ops import arguments, comparison, elementwise, nan_reductions, shaping
from gradtape.ops.accumulate import RUNNING
from gradtape.ops.arguments import Axes, argument_error, as_value, axes_tuple, index_at_axis, one_axis
from gradtape.ops.elementwise import where as choose
from gradtape.ops.indexed_update import at as place_of
from gradtape.ops.indexing import getitem_static, positions_of, scatter, static_index
from gradtape.ops.joining import stack
from gradtape.ops.products import matmul, vecdot
from gradtape.ops.softmax import logsumexp

# -- ufuncs that are several operations


def _divide_with_remainder(x: Array, y: Array) -> tuple[Any, Any]:
    return comparison.floor_divide(x, y), elementwise.remainder(x, y)


def _matrix_and_vector(matrix: TensorLike, vector: TensorLike, name: str) -> tuple[Any, Any]:
    """Both as values; refused if they have too few axes to be what they are called."""
    matrix, vector = as_value(matrix), as_value(vector)
    if matrix.ndim < 2 or not vector.ndim:
        raise argument_error(
            ShapeError,
            f"np.{name}: a matrix of shape {matrix.shape} and a vector of shape {vector.shape}.",
            "two axes or more, and one or more",
        )
    return matrix, vector


def _matrix_times_vector(matrix: Array, vector: Array) -> Any:
    matrix, vector = _matrix_and_vector(matrix, vector, "matvec")
    return matmul(matrix, vector[..., None])[..., 0]


def _vector_times_matrix(vector: Array, matrix: Array) -> Any:
    matrix, vector = _matrix_and_vector(matrix, vector, "vecmat")
    return matmul(np.conj(vector)[..., None, :], matrix)[..., 0, :]


COMPOSED[np.divmod] = _divide_with_remainder
BY_NAME["numpy.clip"] = elementwise.clip  # what array.clip(x, y) calls
if hasattr(np, "matvec"):  # NumPy 2.2 and newer
    COMPOSED[np.matvec] = _matrix_times_vector
    COMPOSED[np.vecmat] = _vector_times_matrix


@answers(np.linalg.vecdot)
def _vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Any:
    return vecdot(shaping.moveaxis(x1, axis, -1), shaping.moveaxis(x2, axis, -1))


# -- calls with keywords


def call(
    ufunc: np.ufunc,
    *inputs: Array,
    out: tuple[Any, ...] | None = None,
    where: Any = True,
    dtype: DTypeLike = None,
    signature: Any = None,
    casting: str = "same_kind",
    order: str = "K",
    subok: bool = True,
    **others: Any,
) -> Any:
    """A call of `ufunc` with keywords. `order` and `subok` say nothing about values, and nothing follows from them."""
    name = f"np.{ufunc.__name__}"
    outs = out if out is not None and any(o is not None for o in out) else None
    if where is not True and outs is None:
        raise argument_error(
            OperandError,
            f"{name}(where=...) without out= leaves the other elements undefined.",
            f"gt.where(mask, {name}(...), other), or out= with the other elements",
        )
    operation = operation_for(ufunc)
    back = None
    if ufunc is np.matmul and others.get("axes") == [(-2, -1)] * 3:  # what NumPy says of a @= b, and what is so anyway
        del others["axes"]
    if others:
        inputs, back = _along_axis(ufunc, inputs, others)
    kinds: Sequence[Any] = ()
    if dtype is not None or signature is not None or casting != "same_kind":
        kinds = _loop(ufunc, inputs, dtype, signature, casting)
        inputs = tuple(_cast(x, kind) for x, kind in zip(inputs, kinds))
    if where is not True and ufunc.signature is None:
        inputs = _with_harmless_numbers(ufunc, inputs, where)
    result = operation(*inputs)
    several = isinstance(result, tuple)
    results = list(result) if several else [result]
    if kinds:
        results = [_cast(r, kind) for r, kind in zip(results, kinds[ufunc.nin :], strict=True)]
    if back is not None:
        results = [back(r) for r in results]
    for index, target in enumerate(outs or ()):
        if target is not None:
            results[index] = _write(results[index], target, f"{name}(out=...)", where, casting)
    return tuple(results) if several else results[0]


def _with_harmless_numbers(ufunc: np.ufunc, inputs: Sequence[Any], mask: Any) -> tuple[Any, ...]:
    """The inputs with other numbers where `mask` is false: what is not computed there must not be infinite or NaN.

    The result there is not used, but 0 times an infinite derivative would be NaN.
    """
    for number in (0.5, 2.0):  # 2 for functions that are defined from 1 on
        with np.errstate(all="ignore"):
            if np.all(np.isfinite(ufunc(*[number] * ufunc.nin))):
                break
    return tuple([np.where(mask, x, _cast(number, x.dtype)) if _is_floating(x) else x for x in map(as_value, inputs)])


def _is_floating(x: Array) -> bool:
    return x.dtype.kind in "fc"


def _write(result: Any, target: Any, how: str, mask: Any, casting: str) -> Any:
    if casting == "unsafe" and result.dtype != target.dtype:
        result = as_value(result).astype(target.dtype)
    if mask is not True and result.shape != target.shape:
        result = shaping.broadcast_to(result, target.shape)
    return write_into(result, target, how, mask)


def _cast(x: TensorLike, dtype: DTypeLike) -> Any:
    return x if isinstance(x, int | float | complex) or as_value(x).dtype == dtype else as_value(x).astype(dtype)


def _loop(ufunc: np.ufunc, inputs: Sequence[Any], dtype: DTypeLike, signature: Any, casting: str) -> Sequence[Any]:
    """The dtypes of the inputs and results of the loop that NumPy would run."""
    kinds = [type(x) if type(x) in (int, float, complex) else as_value(x).dtype for x in inputs]
    if dtype is not None:
        signature = (None,) * ufunc.nin + (np.dtype(dtype),) * ufunc.nout
    elif signature is None:
        signature = (None,) * ufunc.nargs
    elif isinstance(signature, str):
        signature = tuple(np.dtype(kind) for kind in signature.replace("->", ""))
    try:
        return ufunc.resolve_dtypes((*kinds, *(None,) * ufunc.nout), signature=signature, casting=casting)  # type: ignore[arg-type]
    except TypeError as error:
        raise argument_error(
            OperandError, f"np.{ufunc.__name__}: {error}", "casting='unsafe', or x.astype(...) before"
        ) from None


def _along_axis(ufunc: np.ufunc, inputs: Any, others: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
    """The inputs of a product of vectors with `axis` in the last place, and how the result is put in order."""
    axis, keepdims = others.pop("axis", -1), others.pop("keepdims", False)
    if others or ufunc is not np.vecdot:
        names = ", ".join(others) or "axis"
        raise argument_error(
            OperandError,
            f"np.{ufunc.__name__} on a tensor does not take {names}.",
            "np.moveaxis of the operands; out, where, dtype, casting, signature are taken",
        )
    moved = tuple(shaping.moveaxis(x, axis, -1) for x in inputs)
    return moved, (lambda r: shaping.expand_dims(r, axis)) if keepdims else None


# -- reduce

# besides those in REDUCTIONS, the ufuncs of which it does not matter what is taken first
_ASSOCIATIVE = frozenset({np.fmax, np.fmin, np.logaddexp, np.logaddexp2, np.hypot})

_in_numpy = constant(
    lambda x, ufunc, method, how: np.asarray(getattr(ufunc, method)(x, **dict(how))),
    name="a method of a ufunc",
    samples=lambda draw: [
        ((draw(3, 4) > 0,), {"ufunc": np.logical_xor, "method": "reduce", "how": (("axis", 1),)}),
        ((np.array([12, 18, 27]),), {"ufunc": np.gcd, "method": "accumulate", "how": (("axis", 0),)}),
    ],
)


def _is_flat(operation: Callable[..., Any]) -> bool:
    return isinstance(operation, Op) and not operation.differentiable


def _given(**keywords: Any) -> tuple[tuple[str, Any], ...]:
    """The keywords that were given, for NumPy; tensors among them as arrays."""
    return tuple((name, plain(value)) for name, value in keywords.items() if value is not None)


def _as_the_loop_takes_it(ufunc: np.ufunc, x: Array, dtype: DTypeLike) -> Array:
    """`x` in the dtype in which NumPy takes its elements together; refused where it has no way to do that."""
    x = x if dtype is None else x.astype(dtype)
    if ufunc in REDUCTIONS or x.dtype.kind == "f":
        return x
    loop = _loop(ufunc, (x, x), None, None, "same_kind")[-1]
    if dtype is not None and loop != x.dtype:
        raise argument_error(
            OperandError, f"np.{ufunc.__name__} has no way to take {x.dtype} together.", f"dtype={loop}"
        )
    return arguments.cast_to(x, loop)


def reduce(
    ufunc: np.ufunc,
    x: TensorLike,
    *,
    axis: Axis = 0,
    dtype: DTypeLike = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: Array | None = None,
    where: Any = True,
) -> Any:
    """`ufunc.reduce`: the elements along `axis` taken together, two at a time."""
    operation = operation_for(ufunc, ".reduce")
    x = as_value(x)
    if not x.ndim and axis in (0, -1):  # NumPy lets a single number have the axis that reduce takes by itself
        axis = None
    if _is_flat(operation) and ufunc not in REDUCTIONS:
        how = (("axis", axis), ("keepdims", keepdims), *_given(dtype=dtype, initial=initial, where=where))
        result = _in_numpy(x, ufunc=ufunc, method="reduce", how=how)
    else:
        x = _as_the_loop_takes_it(ufunc, x, dtype)
        result = _reduced(ufunc, operation, x, axis, keepdims, initial, where)
    return result if out is None else write_into(result, out[0], f"np.{ufunc.__name__}.reduce(out=...)")


def _reduced(
    ufunc: np.ufunc, operation: Any, x: Array, axis: Axis, keepdims: bool, initial: Array | None, mask: TensorLike
) -> Any:
    if ufunc in (np.logical_and, np.logical_or):
        found = REDUCTIONS[ufunc](x, axis=axis, keepdims=keepdims, where=mask)
        return found if initial is None else operation(found, initial)
    if ufunc in REDUCTIONS:
        return REDUCTIONS[ufunc](x, axis=axis, keepdims=keepdims, initial=initial, where=mask)
    axes = tuple(range(x.ndim)) if axis is None else axes_tuple(axis, x.ndim)
    if len(axes) > 1 and ufunc not in _ASSOCIATIVE:
        raise argument_error(
            ShapeError,
            f"np.{ufunc.__name__}.reduce along the axes {axes}: which comes first makes a difference.",
            "one axis: axis=0",
        )
    start = ufunc.identity if initial is None else initial
    if start is None and (mask is not True or not _slice_size(x, axes)):
        what = "where=" if mask is not True else f"no elements (shape {x.shape})"
        raise argument_error(
            ShapeError, f"np.{ufunc.__name__}.reduce of {what} needs initial=.", "initial=, the first value"
        )
    if ufunc is np.logaddexp or ufunc is np.logaddexp2:
        found = _summed_exponentials(ufunc, x, axes, keepdims, mask)
        return found if initial is None else operation(found, initial)
    if ufunc is np.fmax or ufunc is np.fmin:
        return _extreme_number(ufunc, x, axes, keepdims, initial, mask)
    if not _slice_size(x, axes):
        initial = start  # which is all there is
    row = _in_a_row(x, axes)
    masks = None if mask is True else _in_a_row(shaping.broadcast_to(as_value(mask), x.shape), axes)
    found = row[0] if initial is None and mask is True else _filled_like(row, start)
    for k in range(1 if initial is None and mask is True else 0, row.shape[0]):
        taken = operation(found, row[k])
        found = taken if masks is None else choose(masks[k], taken, found)
    return arguments.restore_reduced_axes(found, axes, False, x.ndim) if keepdims else found


def _slice_size(x: Array, axes: Sequence[int]) -> int:
    """How many elements of `x` each of its slices along `axes` has."""
    return int(np.prod([x.shape[a] for a in axes]))


def _filled_like(row: Any, value: Array) -> Any:
    """`value` in the shape of one of the elements of `row`."""
    value = value if isinstance(value, Tensor) else np.asarray(value, row.dtype)
    return shaping.broadcast_to(value, row.shape[1:])


def _in_a_row(x: Array, axes: Sequence[int]) -> Any:
    """`x` with the elements along `axes` along its first axis."""
    kept = [a for a in range(x.ndim) if a not in axes]
    return shaping.reshape(shaping.transpose(x, (*axes, *kept)), (_slice_size(x, axes), *(x.shape[a] for a in kept)))


def _summed_exponentials(ufunc: np.ufunc, x: Array, axes: Axes, keepdims: bool, mask: TensorLike) -> Any:
    scale = elementwise.LN2 if ufunc is np.logaddexp2 else None
    x = x.astype(np.result_type(x.dtype, np.float16)) if x.dtype.kind not in "fc" else x
    x = x if mask is True else choose(shaping.broadcast_to(mask, x.shape), x, np.asarray(-np.inf, x.dtype))
    found = logsumexp(x if scale is None else x * scale, axes, keepdims)
    return found if scale is None else found / scale


def _extreme_number(
    ufunc: np.ufunc, x: Array, axes: Axes, keepdims: bool, initial: Array | None, mask: TensorLike
) -> Any:
    """The largest or smallest of what is a number; not a number where nothing is."""
    largest = ufunc is np.fmax
    extreme = nan_reductions.nanmax if largest else nan_reductions.nanmin
    bound = -np.inf if largest else np.inf
    if initial is not None or x.dtype.kind not in "fc":
        return extreme(x, axes, keepdims=keepdims, initial=initial, where=mask)
    found = extreme(x, axes, keepdims=keepdims, initial=bound)
    return choose(np.all(np.isnan(x), axis=axes, keepdims=keepdims), np.asarray(np.nan, x.dtype), found)


# -- accumulate


def accumulate(
    ufunc: np.ufunc, x: TensorLike, *, axis: int = 0, dtype: DTypeLike = None, out: Array | None = None
) -> Any:
    """`ufunc.accumulate`: what `reduce` has found at each place along `axis`."""
    operation = operation_for(ufunc, ".accumulate")
    x = as_value(x)
    if not x.ndim:
        raise argument_error(
            OperandError, f"np.{ufunc.__name__}.accumulate of a single number.", "an array of one axis or more"
        )
    axis = one_axis(axis, x.ndim)
    if _is_flat(operation):
        result = _in_numpy(x, ufunc=ufunc, method="accumulate", how=(("axis", axis), *_given(dtype=dtype)))
    else:
        x = _as_the_loop_takes_it(ufunc, x, dtype)
        if ufunc in ACCUMULATIONS:
            result = ACCUMULATIONS[ufunc](x, axis=axis, dtype=dtype)
        elif ufunc in RUNNING and x.dtype.kind == "f":
            result = RUNNING[ufunc](x, axis=axis)
        else:
            result = _one_by_one(operation, x, axis)
    return result if out is None else write_into(result, out[0], f"np.{ufunc.__name__}.accumulate(out=...)")


def _one_by_one(operation: Callable[..., Any], x: Array, axis: int) -> Any:
    if not x.shape[axis]:
        return x
    found = [x[index_at_axis(axis, 0)]]
    for k in range(1, x.shape[axis]):
        found.append(operation(found[-1], x[index_at_axis(axis, k)]))
    return stack(found, axis)


# -- reduceat


def _segments(indices: Array, length: int) -> list[tuple[int, int]]:
    """From where to where each of the slices of `reduceat` goes; one that would go backwards has one element."""
    starts = [int(i) for i in np.atleast_1d(plain(indices))]
    for start in starts:
        if not 0 <= start < length:
            raise argument_error(
                IndexingError,
                f"reduceat: index {start} along an axis of length {length}.",
                f"indices from 0 to {length - 1}",
            )
    ends = [*starts[1:], length][: len(starts)]
    return [(start, end if end > start else start + 1) for start, end in zip(starts, ends, strict=True)]


def _spread_over_segments(g: Array, x: Array, segments: tuple[tuple[int, int], ...], axis: int) -> Any:
    """Each element of `x` gets the sum of what the segments that it is in got."""
    rows = np.repeat(np.arange(len(segments)), [end - start for start, end in segments])
    places = np.concatenate([np.arange(start, end) for start, end in segments])
    picked = getitem_static(g, index=index_at_axis(axis, rows))
    return scatter(picked, index=index_at_axis(axis, places), shape=x.shape)


_sums_of_segments = linear(
    lambda x, segments, axis: np.stack([x[index_at_axis(axis, slice(*s))].sum(axis) for s in segments], axis),
    _spread_over_segments,
    name="sums of segments",
    samples=lambda draw: [
        ((draw(6),), {"segments": ((0, 2), (2, 3), (1, 6)), "axis": 0}),
        ((draw(2, 4),), {"segments": ((0, 3), (3, 4)), "axis": 1}),
    ],
)


def reduceat(
    ufunc: np.ufunc,
    x: TensorLike,
    indices: Array,
    *,
    axis: int = 0,
    dtype: DTypeLike = None,
    out: Array | None = None,
) -> Any:
    """`ufunc.reduceat`: the reductions of the slices of `x` from each index to the next."""
    operation = operation_for(ufunc, ".reduceat")
    x = as_value(x)
    axis = one_axis(axis, x.ndim)
    if _is_flat(operation):
        how = (("indices", plain(indices)), ("axis", axis), *_given(dtype=dtype))
        result = _in_numpy(x, ufunc=ufunc, method="reduceat", how=how)
    else:
        x = _as_the_loop_takes_it(ufunc, x, dtype)
        segments = _segments(indices, x.shape[axis])
        if ufunc is np.add and segments:
            result = _sums_of_segments(x, segments=tuple(segments), axis=axis)
        elif segments:
            result = stack([reduce(ufunc, x[index_at_axis(axis, slice(*s))], axis=axis) for s in segments], axis)
        else:
            result = x[index_at_axis(axis, slice(0, 0))]
    return result if out is None else write_into(result, out[0], f"np.{ufunc.__name__}.reduceat(out=...)")


# -- outer


def outer(ufunc: np.ufunc, x: TensorLike, y: TensorLike, **keywords: Any) -> Any:
    """`ufunc.outer`: every element of `x` with every one of `y`."""
    left, right = as_value(x), as_value(y)
    before = left.ndim
    left = shaping.reshape(left, left.shape + (1,) * right.ndim)
    right = shaping.reshape(right, (1,) * before + right.shape)
    return call(ufunc, left, right, **keywords) if keywords else operation_for(ufunc, ".outer")(left, right)


# -- at


def at(ufunc: np.ufunc, x: Any, indices: Any, *values: Any) -> None:
    """`ufunc.at(x, indices, values)`: the operation on some elements in place, on those named twice, twice."""
    name = f"np.{ufunc.__name__}.at"
    if not isinstance(x, Tensor):
        if any(isinstance(value, Tensor) and is_tracked(value) for value in values):
            raise messages.written_into_array(np.shape(values[0]))
        getattr(ufunc, "at")(x, _plain_index(indices), *(plain(value) for value in values))  # noqa: B009
        return
    operation = operation_for(ufunc, ".at")
    place = place_of(x)[indices]
    written = {
        np.add: lambda value: place.add(value),
        np.subtract: lambda value: place.add(_negated(value, x.dtype)),
    }
    if ufunc in written:
        new = written[ufunc](*values)
    elif values:
        new = place.each(operation, values[0])
    else:
        new = _each_alone(operation, x, indices)
    x._replace(new, f"{name}(...)")


def _negated(value: TensorLike, dtype: np.dtype[Any]) -> Any:
    value = as_value(value)
    return -(value.astype(dtype) if value.dtype.kind in "bu" else value)  # which have no negative numbers


def _plain_index(indices: TensorLike) -> Any:
    return tuple(plain(part) for part in indices) if isinstance(indices, tuple) else plain(indices)


def _each_alone(operation: Callable[..., Any], x: Tensor, indices: TensorLike) -> Any:
    """An operation of one argument on some elements; on an element that is named k times, k times."""
    positions = positions_of(template=static_index(indices), shape=x.shape).ravel()
    if not positions.size:
        return x
    result = shaping.reshape(x, (-1,))
    named, count = np.unique(positions, return_counts=True)
    for times in range(int(count.max(initial=0))):
        now = named[count > times]
        result = place_of(result)[now].set(operation(result[now]))
    return shaping.reshape(result, x.shape)
