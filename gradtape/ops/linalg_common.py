"""What the rules of matrix decompositions share: how a Hermitian argument is read, and divisions that may not exist.

Everything here works on the last two axes; leading axes are a stack of matrices, so batching is one more axis in front.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core.batch import batch_elementwise, repeat_for_batch
from gradtape.core.location import Location
from gradtape.core.operation import Lifted, Op, apply
from gradtape.core.rules import constant, general, linear
from gradtape.core.shapes import unbroadcast
from gradtape.core.tensor import plain
from gradtape.core.typing import Array, Draw
from gradtape.errors import LinearAlgebraError, UnsupportedError
from gradtape.ops.arguments import argument_error


def adjoint(x: Array) -> Any:
    """The conjugate transpose of the last two axes."""
    turned = np.swapaxes(x, -1, -2)
    return np.conj(turned) if x.dtype.kind == "c" else turned


def transposed(x: Array) -> Any:
    """The transpose of the last two axes."""
    return np.swapaxes(x, -1, -2)


def hermitian_part(x: Array) -> Any:
    """(x + x^H) / 2, which is x itself, to the last bit, when x is Hermitian. Others than square are left to NumPy."""
    if len(x.shape) < 2 or x.shape[-1] != x.shape[-2]:
        return x
    return (x + adjoint(x)) / 2


def with_diagonal(vector: Array) -> Any:
    """The diagonal matrices with `vector` along its last axis."""
    return np.where(np.eye(vector.shape[-1], dtype=bool), vector[..., None], 0)


def diagonal_of(x: Array) -> Any:
    """The diagonals of the last two axes as rows, of shape (..., 1, n)."""
    return np.diagonal(x, axis1=-2, axis2=-1)[..., None, :]


def diagonal_part(x: Array) -> Any:
    """`x` on the diagonal of the last two axes, and 0 elsewhere."""
    return np.where(np.eye(x.shape[-1], dtype=bool), x, 0)


def regular_matrix(draw: Draw, n: int) -> Any:
    """A matrix far from singular."""
    return 0.4 * draw(n, n) + 2 * np.eye(n)


def over_stack(function: Callable[..., Any], *matrices: Array) -> Any:
    """`function` of each matrix of a stack (or of several stacks that broadcast together)."""
    stack = np.broadcast_shapes(*(m.shape[:-2] for m in matrices))
    if not stack:
        return function(*matrices)
    if 0 in stack:  # the result for one matrix tells the shape of none
        example = function(*(np.eye(*m.shape[-2:], dtype=m.dtype) for m in matrices))
        return np.zeros(stack + example.shape, example.dtype)
    spread = [np.broadcast_to(m, stack + m.shape[-2:]) for m in matrices]
    results = np.stack([function(*(m[place] for m in spread)) for place in np.ndindex(stack)])
    return results.reshape(stack + results.shape[1:])


def in_precision_of(result: Array, *matrices: Array) -> Any:
    """`result`, real or complex as it is, in the precision of what went in; SciPy computes some in double."""
    given = np.result_type(*matrices)
    if given.kind not in "fc":
        return result
    real = np.zeros(0, given).real.dtype
    return result.astype(np.result_type(real, np.complex64) if result.dtype.kind == "c" else real, copy=False)


@functools.cache
def _without_derivative() -> Any:
    """The function (matrix, vectors, why) -> vectors that refuses every gradient on its way from them to the matrix."""
    from gradtape.transforms.custom import custom_vjp

    def pulled(why: str, a: Array, g: Array) -> Any:
        if isinstance(g, Lifted) or np.any(plain(g)):
            raise argument_error(UnsupportedError, why, "mode='reduced' of qr, full_matrices=False of svd")
        return np.zeros(a.shape, a.dtype), None

    vectors_of = custom_vjp(lambda why, a, vectors: vectors, nondiff_argnums=0)
    vectors_of.defvjp(lambda why, a, vectors: (vectors, a), pulled)
    return vectors_of


@functools.cache
def _kept_orthogonal() -> Any:
    """The function (vectors, others, axis) -> others, of which the derivative keeps these orthogonal to the vectors."""
    from gradtape.transforms.custom import custom_jvp

    @functools.partial(custom_jvp, nondiff_argnums=2)
    def others_of(vectors: Array, others: Array, axis: int) -> Array:
        return others

    def pushed(axis: int, primals: Any, tangents: Any) -> Any:
        vectors, moving = primals[0], tangents[0]
        others = others_of(*primals, axis)
        if axis == -1:
            return others, -(vectors @ (adjoint(moving) @ others))
        return others, -((others @ adjoint(moving)) @ vectors)

    others_of.defjvp(pushed)
    return others_of


def append_basis_vectors(a: Array, vectors: Array, axis: int, more: Any, name: str) -> Any:
    """`vectors` of `a` with `more` behind them: those complete the basis.

    They stay orthogonal to the others, dU2 = -U1 dU1^H U2, which is all of their derivative if they are one. Several
    are arbitrary up to a rotation among themselves: what does not depend on that moves right in forward mode, and a
    gradient, which may depend on it, is refused.
    """
    why = (
        f"{name}: the vectors that complete the basis of a matrix of shape {a.shape} are arbitrary and have no "
        f"derivative, and this gradient depends on them."
    )
    orthogonal = _kept_orthogonal()(vectors, more, axis)
    if more.shape[axis] > 1:
        orthogonal = orthogonal + (_without_derivative()(why, a, more) - more)
    return np.concatenate([vectors, orthogonal], axis)


def batch_as_stack(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    """The batching rule of operations on stacks of matrices: the examples are one more axis of the stack."""
    return batch_elementwise(op, flags, values, params)


# -- Hermitian arguments: NumPy reads one triangle and takes the other for granted


SMALL_HERMITIAN = 64
"""Rows of a Hermitian matrix up to which both ways to read it are computed, in operations that compiled code fuses."""


def _is_hermitian_kernel(x: Array) -> Any:
    tolerance = 8 * np.finfo(x.dtype).eps if x.dtype.kind in "fc" else 0
    if x.ndim == 2 and len(x) > SMALL_HERMITIAN and bool(np.all(x == adjoint(x))):
        return np.asarray(True)
    size = np.max(np.abs(x), axis=(-2, -1), initial=0)
    return (np.max(np.abs(x - adjoint(x)), axis=(-2, -1), initial=0) <= tolerance * size)[...]


_is_hermitian = constant(
    _is_hermitian_kernel, name="is_hermitian", batch=batch_as_stack, samples=lambda draw: [((draw(3, 3),), {})]
)


def _read_triangle_kernel(x: Array, y: Array, lower: bool) -> Any:
    if y.all() and np.broadcast_shapes(x.shape, y.shape) == x.shape:
        return x
    square = np.ones(x.shape[-2:], bool)
    read = np.where(np.tril(square) if lower else np.triu(square), x, adjoint(x))
    return np.where(y, x, read)


def _spread_triangle_kernel(x: Array, y: Array, lower: bool) -> Any:
    if y.all() and np.broadcast_shapes(x.shape, y.shape) == x.shape:
        return x
    triangle = np.tril if lower else np.triu
    strictly = np.triu(x, 1) if lower else np.tril(x, -1)
    return np.where(y, x, triangle(x) + adjoint(strictly))


def _triangle_samples(draw: Draw) -> list[Any]:
    return [
        ((draw(3, 3), np.array([[False]])), {"lower": True}),
        ((draw(3, 3), np.array([[True]])), {"lower": False}),
        ((draw(2, 2, 2), np.array([[[True]], [[False]]])), {"lower": False}),
    ]


_read_triangle: Op = linear(
    _read_triangle_kernel,
    lambda g, x, y, lower: unbroadcast(_spread_triangle(g, y, lower=lower), x.shape),
    None,
    name="read_triangle",
    batch=batch_as_stack,
    samples=_triangle_samples,
    doc="The Hermitian matrix of one triangle of x, or x itself where y says that it is Hermitian.",
)
_spread_triangle: Op = linear(
    _spread_triangle_kernel,
    lambda g, x, y, lower: unbroadcast(_read_triangle(g, y, lower=lower), x.shape),
    None,
    name="spread_triangle",
    batch=batch_as_stack,
    samples=_triangle_samples,
    doc="The transpose of read_triangle.",
)


def as_hermitian(a: Array, triangle: str) -> Any:
    """`a` as NumPy reads it: Hermitian, given by its lower ("L") or upper ("U") triangle.

    An argument that is Hermitian already is handed on as it is, and gets a Hermitian gradient: the gradient within
    the Hermitian matrices, which has the smallest norm of all that fit. Of any other only the triangle is used, and
    only the triangle gets a gradient.
    """
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        return a  # NumPy refuses it, with a better message
    near = _is_hermitian(a)
    if not isinstance(near, Lifted) and plain(near).all():
        return a
    if a.shape[-1] > SMALL_HERMITIAN:
        return _read_triangle(a, near[..., None, None], lower=triangle == "L")
    square = np.ones(a.shape[-2:], bool)
    read = np.where(np.tril(square) if triangle == "L" else np.triu(square), a, adjoint(a))
    return np.where(near[..., None, None], a, read)


# -- divisions: 1/x is asked for in places where x may be 0, and is needed there only if something is multiplied by it


def _guarded_reciprocal_kernel(x: Array, size: Any, weight: Array, scale: Array, refusal: str) -> Any:
    x, size, weight, scale = np.broadcast_arrays(x, size, weight, scale)
    epsilon = float(np.finfo(x.dtype).eps)
    vanishing = np.abs(x) <= 16 * max(x.shape[-1], 1) * epsilon * np.abs(size)
    refused = vanishing & (np.abs(weight) > np.sqrt(epsilon) * np.abs(scale))
    if refused.any():
        *_, i, j = np.argwhere(refused)[0]
        words = refusal.format(i=min(i, j), j=max(i, j), column=j)
        raise LinearAlgebraError(f"{words}\n{Location.here().show()}{_WAYS_OUT}")
    return np.where(vanishing, 0, 1 / np.where(vanishing, 1, x)).astype(x.dtype)


_WAYS_OUT = (
    "\n  fix: what does not depend on that choice has a derivative: the values alone (np.linalg.eigvalsh, svdvals),\n"
    "       projections on all vectors of a repeated value together (v @ v.conj().T), and for functions\n"
    "       of the matrix gt.linalg.expm, gt.linalg.logm and gt.linalg.sqrtm;\n"
    "       or separate the values by a small change of the matrix"
)

guarded_reciprocal = general(
    _guarded_reciprocal_kernel,
    reverse=lambda g, out, x: (unbroadcast(-g * np.conj(out * out), x.shape), None, None, None),
    forward=lambda dx, out: -dx * out * out,
    name="guarded_reciprocal",
    names=("x", "size", "weight", "scale"),
    inputs=4,
    batch=batch_as_stack,
    samples=lambda draw: [
        ((draw(3, 3), draw(3, 3), draw(3, 3), draw(3, 3)), {"refusal": ""}),
        ((draw(2, 2, 2), draw(1, 1), draw(2, 2), draw(1, 1)), {"refusal": ""}),
        ((draw(1, 3), draw(1, 1), draw(4, 1, 3), draw(1, 1)), {"refusal": ""}),
    ],
    doc="1/x; 0 where x vanishes against size, which is refused where weight does not vanish against scale.",
)


def _batch_somewhere(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    """What one example uses, all use: they run the same code, and a cotangent may be zero by chance."""
    (value,) = values
    return repeat_for_batch(np.any(apply(op, (value,), params), axis=0), value.shape[0])


def _somewhere_kernel(x: Array) -> Any:
    return np.logical_or(np.not_equal(x, 0), np.signbit(np.real(x)))


somewhere = constant(
    _somewhere_kernel,
    name="somewhere",
    batch=_batch_somewhere,
    samples=lambda draw: [((draw(3),), {}), ((np.array([0.0, -0.0]),), {})],
    doc="Where a cotangent came from something, in this example or in another of the same batch.",
)
marked = linear(
    lambda x: x,
    lambda g: np.where(g == 0, -0.0, g),
    name="marked",
    batch=batch_elementwise,
    samples=lambda draw: [((draw(3),), {}), ((draw(2, 0),), {})],
    doc="x, whose cotangent, where it is zero, is -0.0: the zeros that stand for a missing one are +0.0.",
)
extent = constant(
    lambda x: np.max(np.abs(x), axis=(-2, -1), keepdims=True, initial=0),
    name="extent",
    batch=batch_as_stack,
    samples=lambda draw: [((draw(3, 3),), {}), ((draw(2, 2, 3),), {}), ((draw(0, 2),), {})],
    doc="The size of the largest element of a matrix, as a 1 by 1 matrix.",
)


def flag_pairs(flags: Any) -> Any:
    """For each pair of positions, whether one of the two is flagged."""
    return np.logical_or(flags[..., None, :], flags[..., :, None])


def inverse_gaps(values: Array, weight: Array, scale: Array, refusal: str) -> Any:
    """1 / (values_j - values_i), and 0 on the diagonal and between equal values where nothing depends on it."""
    identity = np.eye(values.shape[-1], dtype=values.dtype)
    gaps = values[..., None, :] - values[..., :, None] + identity
    return guarded_reciprocal(gaps, extent(values[..., None]), weight, scale, refusal=refusal) - identity


def is_absent(cotangent: Array) -> bool:
    """Whether a cotangent is zero because nothing was computed from its result."""
    return cotangent is None or (isinstance(cotangent, np.ndarray) and not cotangent.any())
