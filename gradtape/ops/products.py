"""Products of vectors and matrices, and diagonals."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.batch import batch_elementwise
from gradtape.core.operation import Op, apply
from gradtape.core.rules import general, linear, multilinear
from gradtape.core.shapes import unbroadcast
from gradtape.core.typing import Array, Axis, DTypeLike, TensorLike
from gradtape.core.views import lay_out
from gradtape.errors import AxisError, ShapeError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import argument_error, as_value, axes_tuple, one_axis, write_result_into
from gradtape.ops.conversion import conjugate
from gradtape.ops.elementwise import multiply
from gradtape.ops.reductions import sum
from gradtape.ops.shaping import moveaxis, ravel, reshape

__all__ = [
    "cross",
    "diag",
    "diagonal",
    "dot",
    "inner",
    "kron",
    "matmul",
    "norm",
    "outer",
    "tensordot",
    "trace",
    "vdot",
    "vecdot",
]

# -- matrix products


def conjugated(x: Array) -> Any:
    """The complex conjugate; real numbers as they are."""
    return np.conj(x) if x.dtype.kind == "c" else x


def _adjoint(x: Array) -> Any:
    """The conjugate transpose of the last two axes."""
    return conjugated(x.T if x.ndim == 2 else np.swapaxes(x, -1, -2))


def _solid(g: Array) -> Any:
    """`g` with all its elements in memory: BLAS does not read what was stretched from one of them, as a sum's is."""
    return np.ascontiguousarray(g) if type(g) is np.ndarray and 0 in g.strides else g


def _matmul_left(g: Array, x: Array, y: Array) -> Any:
    """g y^H, whichever of the operands are vectors."""
    g = _solid(g)
    if y.ndim == 1:
        left = g[..., None] * conjugated(y)
    elif x.ndim == 1 and y.ndim == 2:
        left = np.matmul(conjugated(y), g)
    elif x.ndim == 1:
        left = np.matmul(conjugated(y), g[..., None])[..., 0]
    else:
        left = np.matmul(g, _adjoint(y))
    return left if left.shape == x.shape else unbroadcast(left, x.shape)


def _matmul_right(g: Array, x: Array, y: Array) -> Any:
    """x^H g, whichever of the operands are vectors."""
    g = _solid(g)
    if x.ndim == 1:
        right = g * conjugated(x) if y.ndim == 1 else conjugated(x)[:, None] * g[..., None, :]
    elif y.ndim == 1 and x.ndim == 2:
        right = np.matmul(g, conjugated(x))
    elif y.ndim == 1:
        right = np.matmul(_adjoint(x), g[..., None])[..., 0]
    elif y.ndim == 2 and x.ndim > 2:  # a sum over the matrices of a stack: one product with all their rows
        rows = math.prod(x.shape[:-1])
        right = np.matmul(_adjoint(x.reshape((rows, x.shape[-1]))), g.reshape((rows, g.shape[-1])))
    else:
        right = np.matmul(_adjoint(x), g)
    return right if right.shape == y.shape else unbroadcast(right, y.shape)


def _matmul_kernel(x: Array, y: Array) -> Any:
    """`np.matmul`; for a stack of matrices and one matrix, one product with all rows of the stack."""
    if type(x) is np.ndarray and x.ndim > 2 and np.ndim(y) == 2 and x.flags.c_contiguous and x.shape[-1] == y.shape[0]:
        rows = math.prod(x.shape[:-1])
        return np.matmul(x.reshape((rows, x.shape[-1])), y).reshape((*x.shape[:-1], y.shape[1]))
    return np.matmul(x, y)


def _batch_matmul(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    x, y = values
    x_rank, y_rank = x.ndim - flags[0], y.ndim - flags[1]
    # one matrix against a batch of vectors, rows or columns is one product of two matrices
    if not flags[1] and y_rank == 2 and x_rank == 1:
        return apply(op, (x, y), {})
    if not flags[1] and y_rank == 2 and x_rank == 2:
        size, rows, columns = x.shape
        return apply(op, (x.reshape((size * rows, columns)), y), {}).reshape((size, rows, y.shape[1]))
    if not flags[0] and x_rank == 2 and (y_rank == 1 or (y_rank == 2 and y.shape[-1] == 1)):
        return apply(op, (y, x.T), {}) if y_rank == 1 else apply(op, (y[..., 0], x.T), {})[..., None]
    if x_rank == 1:
        x = x[..., None, :]
    if y_rank == 1:
        y = y[..., None]
    rank = builtins.max(x_rank, y_rank, 2)
    x = _pad_batch(x, rank) if flags[0] else x
    y = _pad_batch(y, rank) if flags[1] else y
    out = apply(op, (x, y), {})
    if y_rank == 1:
        out = out[..., 0]
    return out[..., 0, :] if x_rank == 1 and y_rank > 1 else out[..., 0] if x_rank == 1 else out


def _matmul_units(index: int, values: Sequence[Any]) -> Any:
    """e_i^T Y is row i of the matrix Y, and X e_i column i of X."""
    x, y = values
    if x.ndim + y.ndim != 3 or values[index].ndim != 1:
        return None
    return x[:, None] * y if index == 0 else y[:, None] * x.T


def _pad_batch(x: Array, rank: int) -> Any:
    missing = rank - (x.ndim - 1)
    return x.reshape((x.shape[0],) + (1,) * missing + x.shape[1:]) if missing else x


matmul: Op = multilinear(
    _matmul_kernel,
    _matmul_left,
    _matmul_right,
    name="matmul",
    batch=_batch_matmul,
    units=_matmul_units,
    answers=[np.matmul, np.linalg.matmul],
    samples=lambda draw: [
        ((draw(2, 3), draw(3, 4)), {}),
        ((draw(3), draw(3)), {}),
        ((draw(3), draw(3, 2)), {}),
        ((draw(2, 3), draw(3)), {}),
        ((draw(5, 2, 3), draw(3, 4)), {}),
        ((draw(5, 1, 2, 3), draw(4, 3, 2)), {}),
        ((draw(3), draw(4, 3, 2)), {}),
        ((draw(4, 2, 3), draw(3)), {}),
        ((draw(0, 3), draw(3, 2)), {}),
        ((draw(2, 0), draw(0, 3)), {}),
    ],
    doc="""The matrix product `x @ y`. Derivatives: g y^H and x^H g.

    >>> import gradtape as gt
    >>> gt.matmul(gt.tensor([[1.0, 2.0]]), gt.tensor([3.0, 4.0]))
    Tensor([11.])
    """,
)

vecdot: Op = general(
    np.vecdot,
    reverse=lambda g, x, y: (
        unbroadcast(conjugated(g)[..., None] * y, x.shape),
        unbroadcast(g[..., None] * x, y.shape),
    ),
    forward=lambda dx, dy, x, y: np.vecdot(dx, y) + np.vecdot(x, dy),
    inputs=2,
    batch=batch_elementwise,
    samples=lambda draw: [
        ((draw(3), draw(3)), {}),
        ((draw(2, 3), draw(3)), {}),
        ((draw(2, 1, 3), draw(4, 3)), {}),
        ((draw(3) + 1j * draw(3), draw(2, 3) + 1j * draw(2, 3)), {}),
    ],
    doc="""The sum of products over the last axes, the first conjugated. Derivatives: conj(g) y and g x.

    >>> import gradtape as gt
    >>> gt.vecdot(gt.tensor([1.0, 2.0]), gt.tensor([3.0, 4.0]))
    Tensor(11.)
    """,
)


@answers(np.tensordot, np.linalg.tensordot)
def tensordot(a: TensorLike, b: TensorLike, axes: Any = 2) -> Any:
    """The sum of products over pairs of axes, as `np.tensordot`.

    >>> import gradtape as gt
    >>> gt.tensordot(gt.tensor([1.0, 2.0]), gt.tensor([3.0, 4.0]), 1)
    Tensor(11.)
    """
    a, b = as_value(a), as_value(b)
    if isinstance(axes, (int, np.integer)):
        if axes > min(a.ndim, b.ndim):
            raise argument_error(
                AxisError,
                f"tensordot: {axes} axes of arrays of shapes {a.shape} and {b.shape}.",
                "as many as both have",
            )
        a_sum, b_sum = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    else:
        a_sum, b_sum = axes_tuple(axes[0], a.ndim), axes_tuple(axes[1], b.ndim)
    if [a.shape[i] for i in a_sum] != [b.shape[j] for j in b_sum]:
        raise argument_error(
            ShapeError,
            f"tensordot: axes {a_sum} of shape {a.shape} against axes {b_sum} of shape {b.shape}.",
            "axes of the same lengths, in the same order",
        )
    a_kept = [i for i in range(a.ndim) if i not in a_sum]
    b_kept = [j for j in range(b.ndim) if j not in b_sum]
    length = math.prod([a.shape[i] for i in a_sum])
    left = reshape(a.transpose((*a_kept, *a_sum)), (math.prod([a.shape[i] for i in a_kept]), length))
    right = reshape(b.transpose((*b_sum, *b_kept)), (length, math.prod([b.shape[j] for j in b_kept])))
    return reshape(matmul(left, right), [a.shape[i] for i in a_kept] + [b.shape[j] for j in b_kept])


@answers(np.dot)
def dot(a: TensorLike, b: TensorLike, out: Array | None = None) -> Any:
    """The product of vectors and matrices, as `np.dot`.

    >>> import gradtape as gt
    >>> gt.dot(gt.tensor([1.0, 2.0]), gt.tensor([3.0, 4.0]))
    Tensor(11.)
    """
    if out is not None:
        return write_result_into(out, dot, a, b)
    a, b = as_value(a), as_value(b)
    if not a.ndim or not b.ndim:
        return multiply(a, b)
    return matmul(a, b) if b.ndim <= 2 else tensordot(a, b, ([-1], [-2]))


@answers(np.inner)
def inner(a: TensorLike, b: TensorLike) -> Any:
    """The sum of products over the last axes.

    >>> import gradtape as gt
    >>> gt.inner(gt.tensor([1.0, 2.0]), gt.tensor([3.0, 4.0]))
    Tensor(11.)
    """
    a, b = as_value(a), as_value(b)
    return multiply(a, b) if not a.ndim or not b.ndim else tensordot(a, b, ([-1], [-1]))


@answers(np.vdot)
def vdot(a: TensorLike, b: TensorLike) -> Any:
    """The sum of products of all elements, the first conjugated.

    >>> import gradtape as gt
    >>> gt.vdot(gt.tensor([[1.0, 2.0]]), gt.tensor([[3.0], [4.0]]))
    Tensor(11.)
    """
    return matmul(conjugate(ravel(a)), ravel(b))


_outer = multilinear(
    lambda x, y: x[:, None] * y,
    lambda g, y: np.matmul(_solid(g), conjugated(y)),
    lambda g, x: np.matmul(conjugated(x), _solid(g)),
    name="outer",
    batch=lambda op, flags, values, params: values[0][..., :, None] * values[1][..., None, :],
    samples=lambda draw: [((draw(2), draw(3)), {}), ((draw(1), draw(1)), {}), ((draw(0), draw(3)), {})],
)


@answers(np.outer)
def outer(a: TensorLike, b: TensorLike, out: Array | None = None) -> Any:
    """All products of an element of `a` and one of `b`.

    >>> import gradtape as gt
    >>> gt.outer(gt.tensor([1.0, 2.0]), gt.tensor([3.0])).shape
    (2, 1)
    """
    if out is not None:
        return write_result_into(out, outer, a, b)
    a, b = as_value(a), as_value(b)
    return _outer(a if a.ndim == 1 else reshape(a, (-1,)), b if b.ndim == 1 else reshape(b, (-1,)))


@answers(np.linalg.outer)
def _outer_of_vectors(x1: TensorLike, x2: TensorLike, /) -> Any:
    x1, x2 = as_value(x1), as_value(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise argument_error(
            ShapeError, f"outer: operands of shapes {x1.shape} and {x2.shape}.", "two vectors, or np.outer"
        )
    return _outer(x1, x2)


@answers(np.kron)
def kron(a: TensorLike, b: TensorLike) -> Any:
    """The Kronecker product: each element of `a` replaced by its product with the whole of `b`.

    >>> import gradtape as gt
    >>> gt.kron(gt.tensor([1.0, 2.0]), gt.tensor([1.0, 10.0]))
    Tensor([ 1., 10.,  2., 20.])
    """
    a, b = as_value(a), as_value(b)
    rank = builtins.max(a.ndim, b.ndim)
    rows, columns = ((1,) * (rank - x.ndim) + x.shape for x in (a, b))
    left = reshape(a, [n for length in rows for n in (length, 1)])
    right = reshape(b, [n for length in columns for n in (1, length)])
    return reshape(multiply(left, right), [n * m for n, m in zip(rows, columns, strict=True)])


_CROSSED = (2, 3) if np.lib.NumpyVersion(np.__version__) < "2.5.0" else (3,)
"""How many components `np.cross` takes; to ask it would be answered with a warning."""


@answers(np.cross)
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """The vector product of three-dimensional vectors along an axis; of two in a plane, its third component.

    As NumPy does, it takes vectors in a plane only before NumPy 2.5.

    >>> import gradtape as gt
    >>> gt.cross(gt.tensor([1.0, 0.0, 0.0]), gt.tensor([0.0, 1.0, 0.0]))
    Tensor([0., 0., 1.])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    if a.shape[-1] not in _CROSSED or b.shape[-1] not in _CROSSED:
        way_out = "three components" + (", or two" if 2 in _CROSSED else "; to those in a plane, append a zero")
        raise argument_error(ShapeError, f"cross: vectors of {a.shape[-1]} and {b.shape[-1]} components.", way_out)
    if a.shape[-1] == b.shape[-1] == 2:
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    a, b = (v if v.shape[-1] == 3 else np.concatenate([v, np.zeros_like(v[..., :1])], -1) for v in (a, b))
    first, second = (..., [1, 2, 0]), (..., [2, 0, 1])
    return moveaxis(lay_out(a[first] * b[second] - a[second] * b[first], "C"), -1, axisc)


@answers(np.linalg.cross)
def _cross_along(a: TensorLike, b: TensorLike, /, *, axis: int = -1) -> Any:
    a, b = as_value(a), as_value(b)
    if a.shape[one_axis(axis, a.ndim)] != 3 or b.shape[one_axis(axis, b.ndim)] != 3:
        raise argument_error(
            ShapeError, f"linalg.cross: arrays of shapes {a.shape} and {b.shape}.", "three along the axis"
        )
    return cross(a, b, axis=axis)


# -- diagonals


def _diagonal_transpose(g: Array, x: Array, offset: int, axis1: int, axis2: int) -> Any:
    return _from_diagonal(g, offset=offset, axis1=axis1, axis2=axis2, shape=x.shape)


def _from_diagonal_kernel(x: Array, offset: int, axis1: int, axis2: int, shape: tuple[int, ...]) -> Any:
    out = np.zeros(shape, x.dtype)
    view = np.moveaxis(out, (axis1, axis2), (-2, -1))
    steps = np.arange(x.shape[-1])
    view[..., steps - np.minimum(offset, 0), steps + np.maximum(offset, 0)] = x
    return out


def _batch_diagonal(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    moved = {**params, "axis1": params["axis1"] + 1, "axis2": params["axis2"] + 1}
    if "shape" in params:
        moved["shape"] = (values[0].shape[0], *params["shape"])
    return apply(op, tuple(values), moved)


_diagonal: Op = linear(
    lambda x, offset, axis1, axis2: np.diagonal(x, offset, axis1, axis2),
    _diagonal_transpose,
    name="diagonal",
    batch=_batch_diagonal,
    view=True,
    samples=lambda draw: [
        ((draw(3, 4),), {"offset": 0, "axis1": 0, "axis2": 1}),
        ((draw(3, 4),), {"offset": -1, "axis1": 0, "axis2": 1}),
        ((draw(2, 3, 3),), {"offset": 1, "axis1": 2, "axis2": 1}),
        ((draw(3, 4),), {"offset": 7, "axis1": 0, "axis2": 1}),
    ],
)
_from_diagonal: Op = linear(
    _from_diagonal_kernel,
    lambda g, offset, axis1, axis2: _diagonal(g, offset=offset, axis1=axis1, axis2=axis2),
    name="from_diagonal",
    batch=_batch_diagonal,
    samples=lambda draw: [
        ((draw(3),), {"offset": 1, "axis1": 0, "axis2": 1, "shape": (4, 4)}),
        ((draw(2, 3),), {"offset": -1, "axis1": 2, "axis2": 0, "shape": (3, 2, 4)}),
    ],
)


@answers(np.diagonal)
def diagonal(x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonal of two axes, along a last axis.

    >>> import gradtape as gt
    >>> gt.diagonal(gt.tensor([[1.0, 2.0], [3.0, 4.0]]))
    Tensor([1., 4.])
    """
    x = as_value(x)
    return _diagonal(x, offset=offset, axis1=one_axis(axis1, x.ndim), axis2=one_axis(axis2, x.ndim))


@answers(np.linalg.diagonal)
def _diagonal_of_matrices(x: Array, /, *, offset: int = 0) -> Any:
    return diagonal(x, offset, -2, -1)


@answers(np.diag)
def diag(x: TensorLike, k: int = 0) -> Any:
    """The diagonal of a matrix, or the matrix with a given diagonal.

    >>> import gradtape as gt
    >>> gt.diag(gt.tensor([1.0, 2.0]))
    Tensor([[1., 0.],
            [0., 2.]])
    """
    x = as_value(x)
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise argument_error(
            ShapeError, f"diag: an array of shape {x.shape}.", "a vector or a matrix; gt.diagonal for more"
        )
    length = x.shape[0] + abs(k)
    return _from_diagonal(x, offset=k, axis1=0, axis2=1, shape=(length, length))


@answers(np.trace)
def trace(
    x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike = None, out: Array | None = None
) -> Any:
    """The sum of the diagonal.

    >>> import gradtape as gt
    >>> gt.trace(gt.tensor([[1.0, 2.0], [3.0, 4.0]]))
    Tensor(5.)
    """
    if out is not None:
        return write_result_into(out, trace, x, offset, axis1, axis2, dtype)
    return sum(diagonal(x, offset, axis1, axis2), axis=-1, dtype=dtype)


@answers(np.linalg.trace)
def _trace_of_matrices(x: Array, /, *, offset: int = 0, dtype: DTypeLike = None) -> Any:
    return trace(x, offset, -2, -1, dtype)


@answers(np.linalg.norm)
def norm(x: TensorLike, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Any:
    """The length of vectors or the size of matrices, as `np.linalg.norm`; its gradient at zero is zero.

    >>> import gradtape as gt
    >>> gt.grad(gt.norm)(gt.tensor([3.0, 4.0])), gt.grad(gt.norm)(gt.tensor([0.0, 0.0]))
    (Tensor([0.6, 0.8]), Tensor([0., 0.]))
    """
    from gradtape.ops import norms  # a chapter that is opened when first needed

    return norms.norm(x, ord, axis, keepdims)
