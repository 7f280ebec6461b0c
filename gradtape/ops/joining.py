"""Arrays joined into one, and one cut into several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.batch import repeat_for_batch
from gradtape.core.operation import Op, apply
from gradtape.core.rules import linear
from gradtape.core.tensor import plain
from gradtape.core.typing import Array, DTypeLike, TensorLike
from gradtape.errors import OperandError, ShapeError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import argument_error, as_value, index_at_axis, one_axis, write_result_into
from gradtape.ops.shaping import atleast_1d, atleast_2d, atleast_3d, moveaxis, ravel, reshape

__all__ = [
    "append",
    "array_split",
    "column_stack",
    "concat",
    "concatenate",
    "dsplit",
    "dstack",
    "hsplit",
    "hstack",
    "split",
    "stack",
    "unstack",
    "vsplit",
    "vstack",
]

# -- joining


def _batch_joining(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    size = next(v.shape[0] for v, flag in zip(values, flags, strict=True) if flag)
    spreads = tuple([v if flag else repeat_for_batch(v, size) for v, flag in zip(values, flags, strict=True)])
    return apply(op, spreads, {"axis": params["axis"] + 1})


def _split_cotangent(g: Array, inputs: Any, axis: int) -> list[Any]:
    pieces, start = [], 0
    for spec in inputs:
        stop = start + spec.shape[axis]
        pieces.append(g[index_at_axis(axis, slice(start, stop))])
        start = stop
    return pieces


_concatenate = linear(
    lambda *arrays, axis: np.concatenate(arrays, axis),
    _split_cotangent,
    name="concatenate",
    moves_elements=True,
    variadic=True,
    batch=_batch_joining,
    samples=lambda draw: [
        ((draw(2, 3), draw(2, 1)), {"axis": 1}),
        ((draw(2), draw(0), draw(3)), {"axis": 0}),
        ((draw(1, 2),), {"axis": 0}),
    ],
)


def _several(arrays: Any, name: str) -> list[Any]:
    values = [as_value(x) for x in arrays]
    if not values:
        raise argument_error(ShapeError, f"{name}: no arrays were given.", "join at least one")
    return values


@answers(np.concatenate, np.concat)
def concatenate(
    arrays: Array | Sequence[TensorLike],
    axis: int | None = 0,
    out: Array | None = None,
    *,
    dtype: DTypeLike = None,
    casting: str | None = None,
) -> Any:
    """Arrays joined along an axis they have.

    >>> import gradtape as gt
    >>> gt.concatenate([gt.tensor([1.0]), gt.tensor([2.0, 3.0])])
    Tensor([1., 2., 3.])
    """
    if out is not None:
        return write_result_into(out, concatenate, arrays, axis, dtype=dtype, casting=casting)
    values = _several(arrays, "concatenate")
    if axis is None:
        values, axis = [ravel(x) for x in values], 0
    joined = _concatenate(*values, axis=one_axis(axis, values[0].ndim))
    return _cast(joined, dtype, casting or "same_kind", "concatenate")


def _cast(joined: Any, dtype: DTypeLike, casting: Any, name: str) -> Any:
    if dtype is None:
        return joined
    if not np.can_cast(joined.dtype, dtype, casting):
        raise argument_error(
            OperandError,
            f"{name}: numbers of dtype {joined.dtype} as {np.dtype(dtype)} with casting={casting!r}.",
            "casting='unsafe' if that loss is meant",
        )
    return joined.astype(dtype)


def _unstack_cotangent(g: Array, inputs: Any, axis: int) -> list[Any]:
    return [g[index_at_axis(axis, i)] for i in range(len(inputs))]


def _stack_kernel(*arrays: Any, axis: int) -> Any:
    if axis == 0 and all(type(x) is np.float64 for x in arrays):  # np.stack takes ten times as long for numbers
        return np.array(arrays)
    return np.stack(arrays, axis)


_stack = linear(
    _stack_kernel,
    _unstack_cotangent,
    name="stack",
    moves_elements=True,
    variadic=True,
    batch=_batch_joining,
    samples=lambda draw: [
        ((draw(2, 3), draw(2, 3)), {"axis": 1}),
        ((draw(), draw(), draw()), {"axis": 0}),
        ((draw(0),), {"axis": 1}),
    ],
)


@answers(np.stack)
def stack(
    arrays: Array | Sequence[TensorLike],
    axis: int = 0,
    out: Array | None = None,
    *,
    dtype: DTypeLike = None,
    casting: str | None = None,
) -> Any:
    """Arrays of one shape joined along a new axis.

    >>> import gradtape as gt
    >>> gt.stack([gt.tensor(1.0), gt.tensor(2.0)])
    Tensor([1., 2.])
    """
    if out is not None:
        return write_result_into(out, stack, arrays, axis, dtype=dtype, casting=casting)
    values = _several(arrays, "stack")
    stacked = _stack(*values, axis=one_axis(axis, values[0].ndim + 1))
    return _cast(stacked, dtype, casting or "same_kind", "stack")


@answers(np.vstack)
def vstack(arrays: Array | Sequence[TensorLike], *, dtype: DTypeLike = None, casting: str | None = None) -> Any:
    """Arrays joined as rows.

    >>> import gradtape as gt
    >>> gt.vstack([gt.tensor([1.0, 2.0]), [3.0, 4.0]]).shape
    (2, 2)
    """
    return concatenate([atleast_2d(x) for x in arrays], 0, dtype=dtype, casting=casting)


@answers(np.hstack)
def hstack(arrays: Array | Sequence[TensorLike], *, dtype: DTypeLike = None, casting: str | None = None) -> Any:
    """Arrays joined along the second axis (the first for vectors).

    >>> import gradtape as gt
    >>> gt.hstack([gt.tensor([1.0]), [2.0]])
    Tensor([1., 2.])
    """
    values = [atleast_1d(x) for x in arrays]
    return concatenate(values, 0 if values and values[0].ndim == 1 else 1, dtype=dtype, casting=casting)


@answers(np.dstack)
def dstack(arrays: Array | Sequence[TensorLike]) -> Any:
    """Arrays joined along the third axis.

    >>> import gradtape as gt
    >>> gt.dstack([gt.tensor([1.0, 2.0]), [3.0, 4.0]]).shape
    (1, 2, 2)
    """
    return concatenate([atleast_3d(x) for x in arrays], 2)


@answers(np.column_stack)
def column_stack(arrays: Array | Sequence[TensorLike]) -> Any:
    """Vectors joined as columns.

    >>> import gradtape as gt
    >>> gt.column_stack([gt.tensor([1.0, 2.0]), [3.0, 4.0]]).shape
    (2, 2)
    """
    values = [as_value(x) for x in arrays]
    return concatenate([x if x.ndim > 1 else reshape(x, (-1, 1)) for x in values], 1)


@answers(np.append)
def append(x: TensorLike, values: TensorLike, axis: int | None = None) -> Any:
    """`values` joined to the end of `x`.

    >>> import gradtape as gt
    >>> gt.append(gt.tensor([1.0]), 2.0)
    Tensor([1., 2.])
    """
    return concatenate([x, values], axis)


# -- splitting


def _cuts(given: Any) -> Any:
    """The number of pieces, or the places to cut at, which may be given by a tensor."""
    given = plain(given)
    return int(given) if isinstance(given, np.ndarray) and not given.ndim else given


@answers(np.array_split)
def array_split(x: TensorLike, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Pieces of `x` along an axis: a number of nearly equal ones, or the places to cut at.

    >>> import gradtape as gt
    >>> gt.array_split(gt.tensor([1.0, 2.0, 3.0]), 2)
    [Tensor([1., 2.]), Tensor([3.])]
    """
    x = as_value(x)
    axis = one_axis(axis, x.ndim)
    pieces = np.array_split(np.arange(x.shape[axis]), _cuts(indices_or_sections))
    return [x[index_at_axis(axis, slice(int(p[0]), int(p[-1]) + 1) if p.size else slice(0, 0))] for p in pieces]


@answers(np.split)
def split(x: TensorLike, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Equal pieces of `x` along an axis, or cut at the given places.

    >>> import gradtape as gt
    >>> gt.split(gt.tensor([1.0, 2.0]), 2)
    [Tensor([1.]), Tensor([2.])]
    """
    x = as_value(x)
    axis = one_axis(axis, x.ndim)
    indices_or_sections = _cuts(indices_or_sections)
    if isinstance(indices_or_sections, (int, np.integer)) and x.shape[axis] % indices_or_sections:
        raise argument_error(
            ShapeError,
            f"split: axis {axis} of an array of shape {x.shape} cannot be cut into {indices_or_sections} equal pieces.",
            "gt.array_split allows unequal ones",
        )
    return array_split(x, indices_or_sections, axis)


@answers(np.vsplit)
def vsplit(x: TensorLike, indices_or_sections: Any) -> list[Any]:
    """Pieces of `x` along the first axis of a matrix or more.

    >>> import gradtape as gt
    >>> [piece.shape for piece in gt.vsplit(gt.zeros((4, 2)), 2)]
    [(2, 2), (2, 2)]
    """
    if as_value(x).ndim < 2:
        raise argument_error(
            ShapeError, f"vsplit: an array of shape {as_value(x).shape}.", "two axes or more; gt.split"
        )
    return split(x, indices_or_sections, 0)


@answers(np.hsplit)
def hsplit(x: TensorLike, indices_or_sections: Any) -> list[Any]:
    """Pieces of `x` along the second axis (the first of a vector).

    >>> import gradtape as gt
    >>> [piece.shape for piece in gt.hsplit(gt.zeros((2, 4)), 2)]
    [(2, 2), (2, 2)]
    """
    x = as_value(x)
    return split(x, indices_or_sections, 1 if x.ndim > 1 else 0)


@answers(np.dsplit)
def dsplit(x: TensorLike, indices_or_sections: Any) -> list[Any]:
    """Pieces of `x` along the third axis.

    >>> import gradtape as gt
    >>> [piece.shape for piece in gt.dsplit(gt.zeros((1, 2, 4)), 2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    return split(x, indices_or_sections, 2)


@answers(np.unstack)
def unstack(x: TensorLike, axis: int = 0) -> tuple[Any, ...]:
    """The slices of `x` along an axis.

    >>> import gradtape as gt
    >>> gt.unstack(gt.tensor([1.0, 2.0]))
    (Tensor(1.), Tensor(2.))
    """
    return tuple(moveaxis(x, axis, 0))


# the names of the array API standard
concat = concatenate
