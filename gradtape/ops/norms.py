"""Norms of vectors and matrices, condition numbers and ranks.

A norm has a kink at 0, where its gradient is 0: the smallest of the subgradients. The same holds for the elements of
a vector that are 0, and for singular values that are.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.batch import apply_to_each_example
from gradtape.core.operation import Lifted, Op, apply
from gradtape.core.rules import constant, general
from gradtape.core.tensor import Tensor, is_tracked
from gradtape.core.typing import Array, Axis, TensorLike
from gradtape.errors import LinearAlgebraError, OperandError, ShapeError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import all_axes, argument_error, as_value, axes_tuple, restore_reduced_axes
from gradtape.ops.conversion import absolute, astype
from gradtape.ops.decompositions import inv
from gradtape.ops.linalg_common import batch_as_stack
from gradtape.ops.reductions import max, min, sum
from gradtape.ops.shaping import moveaxis, reshape
from gradtape.ops.svd import svdvals

Axes = tuple[int, ...]


def _batch_norm(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    return apply(op, tuple(values), {**params, "axis": tuple(axis + 1 for axis in params["axis"])})


def _absolute_squares(x: Array) -> Any:
    return x * x if x.dtype.kind != "c" else x.real * x.real + x.imag * x.imag


# -- |x|_2: the slope is x / |x|


def _length_kernel(x: Array, axis: Axes, keepdims: bool) -> Any:
    if x.dtype.kind == "c" or len(axis) < x.ndim or keepdims:
        return np.sqrt(np.sum(_absolute_squares(x), axis=axis, keepdims=keepdims))
    flat = x.ravel("K")
    return np.sqrt(flat.dot(flat))


def _over_length(x: Any, out: Any) -> Any:
    """x / |x|, and 0 where |x| is: for `x` of its shape."""
    if isinstance(out, np.floating):
        return x / out if out else np.zeros_like(x)
    return np.where(out == 0, 0, x / np.where(out == 0, 1, out))


def _unit(x: Array, out: Array, axis: Axes, keepdims: bool) -> Any:
    return x * restore_reduced_axes(_over_length(np.ones(out.shape, out.dtype), out), axis, keepdims, x.ndim)


_length = general(
    _length_kernel,
    reverse=lambda g, x, out, axis, keepdims: x * restore_reduced_axes(_over_length(g, out), axis, keepdims, x.ndim),
    forward=lambda dx, x, out, axis, keepdims: np.sum(
        np.real(np.conj(_unit(x, out, axis, keepdims)) * dx), axis=axis, keepdims=keepdims
    ),
    name="length",
    batch=_batch_norm,
    samples=lambda draw: [
        ((draw(4),), {"axis": (0,), "keepdims": False}),
        ((draw(2, 3),), {"axis": (0, 1), "keepdims": True}),
        ((draw(2, 3),), {"axis": (1,), "keepdims": False}),
        ((draw(),), {"axis": (), "keepdims": False}),
        ((draw(0, 2),), {"axis": (0,), "keepdims": False}),
    ],
)


# -- |x|_p: the slope is (|x_i| / |x|)^(p - 1) x_i / |x_i|


def _power_norm_kernel(x: Array, p: float, axis: Axes, keepdims: bool) -> Any:
    sizes = np.abs(x)
    with np.errstate(divide="ignore"):  # a negative power of 0
        total = np.sum(sizes**p, axis=axis, keepdims=keepdims)
        return np.asarray(total ** np.reciprocal(p, dtype=sizes.dtype))


def _power_slopes(x: Array, out: Array, p: float, axis: Axes, keepdims: bool) -> Any:
    whole = restore_reduced_axes(out, axis, keepdims, x.ndim)
    flat = np.logical_or(x == 0, whole == 0)
    sizes = np.where(flat, 1, np.abs(np.where(flat, 1, x)))
    return np.where(flat, 0, (sizes / np.where(flat, 1, whole)) ** (p - 1) * np.where(flat, 0, x) / sizes)


_power_norm = general(
    _power_norm_kernel,
    reverse=lambda g, x, out, p, axis, keepdims: (
        restore_reduced_axes(g, axis, keepdims, x.ndim) * _power_slopes(x, out, p, axis, keepdims)
    ),
    forward=lambda dx, x, out, p, axis, keepdims: np.sum(
        np.real(np.conj(_power_slopes(x, out, p, axis, keepdims)) * dx), axis=axis, keepdims=keepdims
    ),
    name="power_norm",
    batch=_batch_norm,
    samples=lambda draw: [
        ((draw(4),), {"p": 3.0, "axis": (0,), "keepdims": False}),
        ((draw(2, 3),), {"p": 0.5, "axis": (1,), "keepdims": True}),
        ((draw(3, 2),), {"p": -2.0, "axis": (0,), "keepdims": False}),
        ((draw(3),), {"p": 1.5, "axis": (0,), "keepdims": False}),
    ],
)


def _vector_norm(x: Array, ord: Any, axis: int, keepdims: bool) -> Any:
    if isinstance(ord, Tensor) and (isinstance(ord, Lifted) or is_tracked(ord)):
        return sum(absolute(x) ** ord, axis=axis, keepdims=keepdims) ** (1.0 / ord)
    if ord is None or ord == 2:
        return _length(x, axis=(axis,), keepdims=keepdims)
    if isinstance(ord, str):
        raise _no_such_norm(ord, "vectors", "a number, np.inf or -np.inf")
    if ord == 0:
        return sum(astype(x != 0, np.zeros(0, x.dtype).real.dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return sum(absolute(x), axis=axis, keepdims=keepdims)
    if ord in (np.inf, -np.inf):
        return _extreme(absolute(x), axis, keepdims, ord)
    return _power_norm(x, p=float(ord), axis=(axis,), keepdims=keepdims)


def _extreme(x: Array, axis: int, keepdims: bool, ord: float) -> Any:
    """The largest, or for a negative `ord` the smallest, along an axis; the largest of none is 0."""
    if ord < 0:
        return min(x, axis=axis, keepdims=keepdims)
    return max(x, axis=axis, keepdims=keepdims) if x.shape[axis] else sum(x, axis=axis, keepdims=keepdims)


def _matrix_norm(x: Array, ord: Any, axes: Axes, keepdims: bool) -> Any:
    if ord is None or ord in ("f", "fro"):
        return _length(x, axis=axes, keepdims=keepdims)
    if ord in (1, -1, np.inf, -np.inf):
        along, across = axes if ord in (1, -1) else axes[::-1]
        found = _extreme(sum(absolute(x), axis=along, keepdims=True), across, True, ord)
    elif ord in (2, -2, "nuc"):
        singular = svdvals(moveaxis(x, axes, (-2, -1)))
        found = sum(singular, axis=-1) if ord == "nuc" else _extreme(singular, singular.ndim - 1, False, ord)
    else:
        raise _no_such_norm(ord, "matrices", "'fro', 'nuc', 1, -1, 2, -2, np.inf or -np.inf")
    return reshape(found, [n for i, n in enumerate(restored_shape(x, axes)) if keepdims or i not in axes])


def restored_shape(x: Array, axes: Axes) -> list[int]:
    """The shape of `x` with length 1 along `axes`."""
    return [1 if i in axes else n for i, n in enumerate(x.shape)]


def _no_such_norm(ord: Any, what: str, accepted: str) -> Exception:
    return argument_error(ShapeError, f"norm: ord={ord!r} is not a norm of {what}.", f"ord={accepted}")


@answers(np.linalg.norm)
def norm(x: TensorLike, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Any:
    """The norm of a vector, or of a matrix if `axis` names two, as `np.linalg.norm`; its gradient at zero is zero.

    For vectors `ord` is any number or infinity, for matrices 'fro', 'nuc', 1, -1, 2, -2 or infinity. Without an `ord`
    and an `axis`, the square root of the sum of all squares.

    >>> import numpy as np, gradtape as gt
    >>> gt.grad(np.linalg.norm)(np.array([3.0, 4.0])), gt.grad(np.linalg.norm)(np.zeros(2))
    (array([0.6, 0.8]), array([0., 0.]))
    """
    x = _floating(x)
    if axis is None and ord is None:
        return _length(x, axis=tuple(range(x.ndim)), keepdims=keepdims)
    if axis is not None and not isinstance(axis, tuple):
        try:
            axis = operator.index(axis)
        except TypeError:
            raise argument_error(OperandError, f"norm: axis={axis!r}.", "None, an integer or a tuple of two") from None
    axes = all_axes(axis, x.ndim)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes[0], keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes, keepdims)
    raise argument_error(
        ShapeError,
        f"norm: ord={ord!r} along {len(axes)} axes of an array of shape {x.shape}.",
        "axis= one axis for vectors or two for matrices; np.linalg.vector_norm takes any number",
    )


def _floating(x: TensorLike) -> Array:
    x = as_value(x)
    return x if x.dtype.kind in "fc" else x.astype(float)


@answers(np.linalg.vector_norm)
def vector_norm(x: TensorLike, /, *, axis: Axis = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """The norm of all elements, or of those along any number of axes, as `np.linalg.vector_norm`.

    >>> import numpy as np, gradtape as gt
    >>> np.linalg.vector_norm(gt.tensor([[3.0, 0.0], [0.0, 4.0]]))
    Tensor(5.)
    """
    x = _floating(x)
    axes = all_axes(axis, x.ndim)
    rest = tuple(i for i in range(x.ndim) if i not in axes)
    flat = reshape(x.transpose((*axes, *rest)), [math.prod([x.shape[i] for i in axes]), *(x.shape[i] for i in rest)])
    found = _vector_norm(flat, ord, 0, False)
    return reshape(found, restored_shape(x, axes)) if keepdims else found


@answers(np.linalg.matrix_norm)
def matrix_norm(x: TensorLike, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """The norm of the matrices in the last two axes, as `np.linalg.matrix_norm`.

    >>> import numpy as np, gradtape as gt
    >>> np.linalg.matrix_norm(gt.tensor([[3.0, 0.0], [0.0, 4.0]]), ord="nuc")
    Tensor(7.)
    """
    x = _floating(x)
    return _matrix_norm(x, ord, axes_tuple((-2, -1), x.ndim), keepdims)


_cond_values = constant(
    lambda x, p: np.real(np.linalg.cond(x, p)),  # NumPy before 2.4 gives complex numbers for complex matrices
    name="cond",
    batch=batch_as_stack,
    samples=lambda draw: [((draw(3, 3),), {"p": 1})],
)


@answers(np.linalg.cond)
def cond(x: TensorLike, p: TensorLike | None = None) -> Any:
    """The condition number of a matrix in the norm `p`, as `np.linalg.cond`.

    In norms other than 2 and -2 it is computed from the inverse, which a tracked matrix needs to have.

    >>> import numpy as np, gradtape as gt
    >>> np.linalg.cond(gt.tensor([[4.0, 0.0], [0.0, 2.0]]))
    Tensor(2.)
    """
    x = _floating(x)
    if x.ndim < 2 or 0 in x.shape[-2:]:
        raise argument_error(
            LinearAlgebraError, f"cond: a matrix of shape {x.shape} has none.", "a matrix with elements"
        )
    if p is not None and p not in (2, -2):
        wanted = isinstance(x, Lifted) or (isinstance(x, Tensor) and is_tracked(x))
        return matrix_norm(x, ord=p) * matrix_norm(inv(x), ord=p) if wanted else _cond_values(x, p=p)
    singular = svdvals(x)
    first, last = singular[..., 0], singular[..., -1]
    with np.errstate(all="ignore"):
        ratio = last / first if p == -2 else first / last
    return np.where(np.logical_and(np.isnan(ratio), ~np.any(np.isnan(x), axis=(-2, -1))), np.inf, ratio)


def _batch_rank(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    return (batch_as_stack if len(values[0].shape) > 2 else apply_to_each_example)(op, flags, values, params)


_matrix_rank = constant(
    lambda x, **how: np.asarray(np.linalg.matrix_rank(x, **how)),
    name="matrix_rank",
    batch=_batch_rank,
    samples=lambda draw: [
        ((draw(3, 3),), {"tol": None, "hermitian": False, "rtol": None}),
        ((draw(3),), {"tol": None, "hermitian": False, "rtol": None}),
        ((draw(2, 3, 3),), {"tol": 1e-3, "hermitian": True, "rtol": None}),
    ],
)


@answers(np.linalg.matrix_rank)
def matrix_rank(A: TensorLike, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """The number of singular values above a tolerance, as `np.linalg.matrix_rank`. A count has no gradient.

    >>> import numpy as np, gradtape as gt
    >>> np.linalg.matrix_rank(gt.tensor([[1.0, 2.0], [2.0, 4.0]]))
    Tensor(1)
    """
    return _matrix_rank(as_value(A), tol=tol, hermitian=hermitian, rtol=rtol)
