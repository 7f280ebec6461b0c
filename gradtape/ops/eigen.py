"""Eigenvalues and eigenvectors.

An eigenvector is determined up to a factor, and those of a repeated eigenvalue up to a rotation. The factor is the one
that LAPACK chooses: unit length, and a component that is real (of `eigh` the first, or with the upper triangle the
last; of `eig` the largest); the rules follow it. A rotation is nobody's to choose: a gradient that depends on it does
not exist, and the rules say so.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.batch import BatchTensor
from gradtape.core.location import Location
from gradtape.core.rules import constant, general
from gradtape.core.shapes import unbroadcast
from gradtape.core.typing import Array, Draw, TensorLike
from gradtape.errors import LinearAlgebraError, ShapeError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import argument_error, as_value
from gradtape.ops.conversion import stop_gradient
from gradtape.ops.decompositions import solve
from gradtape.ops.linalg_common import (
    adjoint,
    as_hermitian,
    batch_as_stack,
    diagonal_of,
    extent,
    flag_pairs,
    guarded_reciprocal,
    hermitian_part,
    in_precision_of,
    inverse_gaps,
    is_absent,
    marked,
    over_stack,
    somewhere,
    with_diagonal,
)


class EighResult(NamedTuple):
    """The results of `eigh`."""

    eigenvalues: Any
    eigenvectors: Any


class EigResult(NamedTuple):
    """The results of `eig`."""

    eigenvalues: Any
    eigenvectors: Any


def separated(draw: Draw, rows: int, columns: int) -> Any:
    """A matrix whose singular values, and eigenvalues of whose Hermitian part, are well apart."""
    return 0.4 * draw(rows, columns) + 1.5 * np.diag(np.arange(1.0, max(rows, columns) + 1))[:rows, :columns]


REPEATED = (
    "the gradient of {op} does not exist here: {values} {{i}} and {{j}} are equal (to rounding), so that their vectors "
    "are determined only together, and this gradient depends on them one by one."
)
PHASE = (
    "the gradient of {op} does not exist here: the component of {vector} {{column}} that is real by convention is "
    "zero, so that its phase, on which this gradient depends, is free."
)


# -- the phase: column j of v may turn by exp(i t_j), and turns so that one component of it stays real


def without_turning(gv: Array, turning: Array, v: Array, row: int, scale: Array, refusal: str) -> Any:
    """The cotangent of `v` without the part that its phases answer for, which goes to the component that is real."""
    at_row = np.eye(v.shape[-2], dtype=v.dtype)[:, row : row + 1 or None]
    pivot = np.conj(v[..., row : row + 1 or None, :])
    weight = stop_gradient(turning)
    return gv - 1j * at_row * (turning * guarded_reciprocal(pivot, 1.0, weight, scale, refusal=refusal))


def phase_change(dv: Array, v: Array, row: int) -> Any:
    """How fast the phases of the columns of `v` would change if nothing kept one component real."""
    pivot = v[..., row : row + 1 or None, :]
    return np.imag(dv[..., row : row + 1 or None, :] * guarded_reciprocal(pivot, 1.0, 0.0, 0.0, refusal=""))


# -- rotations: how much a cotangent depends on which of the vectors of a repeated value are which


def rotation_weight(rotation: Array, used: Any) -> Any:
    """Of vectors that stay orthonormal: their rotation, and if the values are used too, their mixing.

    A function of the matrix, V f(w) V^H, does not depend on the rotation; it has a derivative between equal values
    that follows from f and cannot be told from here.
    """
    fixed = stop_gradient(rotation)
    return np.abs(fixed - adjoint(fixed)) + np.where(flag_pairs(used), np.abs(fixed), 0)


# -- eigh: A V = V diag(w), V^H V = 1. With E = V^H dA V:  dw = diag(E),  V^H dV = E_ij / (w_j - w_i)


_EQUAL_EIGH = REPEATED.format(op="eigh", values="eigenvalues")


def _eigh_kernel(x: Array, triangle: Any, strict: bool) -> tuple[Any, Any]:
    values, vectors = np.linalg.eigh(hermitian_part(np.asarray(x)), triangle)
    return values, vectors


def _eigh_reverse(g: Array, out: Array, triangle: str, strict: bool) -> Any:
    (gw, gv), (w, v) = g, out
    if not w.size:
        return np.zeros(v.shape, v.dtype)
    inner = with_diagonal(gw)
    if not is_absent(gv):
        row = 0 if triangle == "L" else -1
        rotation = adjoint(v) @ gv
        if v.dtype.kind == "c":
            turning = np.imag(diagonal_of(rotation))
            refusal = PHASE.format(op="eigh", vector="eigenvector")
            gv = without_turning(gv, turning, v, row, extent(gv), refusal)
            rotation = adjoint(v) @ gv
        used = np.ones(w.shape, bool) if strict else somewhere(gw)
        gaps = inverse_gaps(marked(w), rotation_weight(rotation, used), extent(gv), _EQUAL_EIGH)
        inner = inner + gaps * rotation
    return hermitian_part(v @ inner @ adjoint(v))


def _eigh_forward(dx: Array, out: Array, triangle: str) -> Any:
    w, v = out
    if not w.size:
        return tuple(np.zeros(part.shape, part.dtype) for part in out)
    change = adjoint(v) @ hermitian_part(dx) @ v
    dv = v @ (inverse_gaps(marked(w), stop_gradient(change), extent(dx), _EQUAL_EIGH) * change)
    if v.dtype.kind == "c":
        dv = dv - 1j * v * phase_change(dv, v, 0 if triangle == "L" else -1)
    return np.real(diagonal_of(change))[..., 0, :], dv


_eigh = general(
    _eigh_kernel,
    reverse=_eigh_reverse,
    forward=_eigh_forward,
    name="eigh",
    outputs=True,
    batch=batch_as_stack,
    samples=lambda draw: [
        ((separated(draw, 3, 3),), {"triangle": "L", "strict": False}),
        ((separated(draw, 3, 3),), {"triangle": "U", "strict": True}),
        ((np.stack([separated(draw, 2, 2), -separated(draw, 2, 2)]),), {"triangle": "L", "strict": False}),
        ((draw(0, 0),), {"triangle": "L", "strict": False}),
    ],
)


def _eigh_by_driver(x: Array, triangle: str, strict: bool, driver: str | None) -> tuple[Any, Any]:
    from scipy import linalg

    x = hermitian_part(np.asarray(x))
    if not x.size:
        return _eigh_kernel(x, triangle, strict)

    def one(matrix: Array) -> Any:
        values, vectors = linalg.eigh(matrix, lower=triangle == "L", driver=driver, check_finite=False)
        return np.concatenate([values[None], vectors])

    both = over_stack(one, x)
    values = both[..., 0, :]
    return values.real if values.dtype.kind == "c" else values, both[..., 1:, :]


eigh_by_driver = general(
    _eigh_by_driver,
    reverse=_eigh_reverse,
    forward=_eigh_forward,
    name="eigh_by_driver",
    outputs=True,
    batch=batch_as_stack,
    samples=lambda draw: [
        ((separated(draw, 3, 3),), {"triangle": "L", "strict": False, "driver": None}),
        ((separated(draw, 2, 2),), {"triangle": "U", "strict": True, "driver": "evd"}),
    ],
    doc="The eigenvalues and eigenvectors with the signs that a driver of LAPACK gives them, as `scipy.linalg.eigh`.",
)


# -- of a tridiagonal matrix, given by its diagonal and the one beside it


def _tridiagonal(d: Array, e: Array) -> Any:
    n = d.shape[-1]
    offsets = np.arange(n)[:, None] - np.arange(n)
    beside = e[..., np.minimum(np.arange(n)[:, None], np.arange(n)).clip(0, max(n - 2, 0))] if n > 1 else 0
    return np.where(offsets == 0, d[..., :, None], np.where(np.abs(offsets) == 1, beside, 0))


def _tridiagonal_kernel(x: Array, y: Array) -> tuple[Any, Any]:
    from scipy import linalg

    def one(d: Array, e: Array) -> Any:
        values, vectors = linalg.eigh_tridiagonal(d[0], e[0], check_finite=False)
        return np.concatenate([values[None], vectors])

    both = in_precision_of(over_stack(one, np.asarray(x)[..., None, :], np.asarray(y)[..., None, :]), x, y)
    return both[..., 0, :], both[..., 1:, :]


def _tridiagonal_reverse(g: Array, x: Array, y: Array, out: Array) -> Any:
    gradient = _eigh_reverse(g, out, "L", False)
    main, below = (np.diagonal(gradient, offset, -2, -1) for offset in (0, -1))
    return unbroadcast(main, x.shape), unbroadcast(2 * below, y.shape)


eigh_tridiagonal = general(
    _tridiagonal_kernel,
    reverse=_tridiagonal_reverse,
    forward=lambda dx, dy, out: _eigh_forward(_tridiagonal(dx, dy), out, "L"),
    name="eigh_tridiagonal",
    inputs=2,
    outputs=True,
    samples=lambda draw: [((np.arange(4.0) + 0.1 * draw(4), draw(3)), {}), ((draw(1), draw(0)), {})],
    doc="The eigenvalues and eigenvectors of a symmetric tridiagonal matrix.",
)


def _eigvalsh_reverse(g: Array, x: Array) -> Any:
    _, v = _eigh(x, triangle="L", strict=True)
    return (v * g[..., None, :]) @ adjoint(v)


def _eigvalsh_forward(dx: Array, x: Array) -> Any:
    _, v = _eigh(x, triangle="L", strict=True)
    return np.real(np.sum(np.conj(v) * (hermitian_part(dx) @ v), axis=-2))


_eigvalsh = general(
    lambda x: np.linalg.eigvalsh(hermitian_part(np.asarray(x))),
    reverse=_eigvalsh_reverse,
    forward=_eigvalsh_forward,
    name="eigvalsh",
    batch=batch_as_stack,
    samples=lambda draw: [((separated(draw, 3, 3),), {}), ((draw(0, 0),), {})],
)


@answers(np.linalg.eigh)
def eigh(a: TensorLike, UPLO: str = "L") -> EighResult:
    """The eigenvalues, in ascending order, and eigenvectors of a Hermitian matrix, as `np.linalg.eigh`.

    A Hermitian argument gets a Hermitian gradient; of any other, the triangle that is read. A gradient that depends
    on the choice of vectors within a repeated eigenvalue does not exist and raises `LinearAlgebraError`; one that
    takes the eigenvalues alone, or all vectors of a repeated one together, is exact.

    >>> import numpy as np, gradtape as gt
    >>> a = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> np.linalg.eigh(gt.tensor(a)).eigenvalues
    Tensor([1., 3.])
    >>> gt.grad(lambda a: np.linalg.eigh(a).eigenvalues[1])(a)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    triangle = _triangle(UPLO)
    values, vectors = _eigh(as_hermitian(as_value(a), triangle), triangle=triangle, strict=False)
    return EighResult(marked(values), vectors)


@answers(np.linalg.eigvalsh)
def eigvalsh(a: TensorLike, UPLO: str = "L") -> Any:
    """The eigenvalues of a Hermitian matrix in ascending order, as `np.linalg.eigvalsh`; repeated ones are no obstacle.

    >>> import numpy as np, gradtape as gt
    >>> gt.grad(lambda a: np.linalg.eigvalsh(a).sum())(np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """
    return _eigvalsh(as_hermitian(as_value(a), _triangle(UPLO)))


def _triangle(UPLO: str) -> str:
    triangle = UPLO.upper()
    if triangle not in ("L", "U"):
        raise argument_error(
            ShapeError, f"UPLO={UPLO!r} names no triangle.", "'L' reads the lower triangle, 'U' the upper"
        )
    return triangle


# -- eig: A V = V diag(w). With E = V^-1 dA V:  dw = diag(E),  V^-1 dV = E_ij / (w_j - w_i) + a diagonal that keeps the
#    columns at unit length and their largest components real


_EQUAL_EIG = REPEATED.format(op="eig", values="eigenvalues")


def _eig_kernel(x: Array, strict: bool) -> tuple[Any, Any]:
    values, vectors = np.linalg.eig(x)
    dtype = np.result_type(values.dtype, np.complex64)
    return values.astype(dtype), vectors.astype(dtype)


def _independent_kernel(v: Array) -> Any:
    if v.size and np.min(np.linalg.svd(v, compute_uv=False)) < 8 * v.shape[-1] * np.finfo(v.dtype).eps:
        raise LinearAlgebraError(
            f"the gradient of eig does not exist here: the matrix is defective (it has fewer eigenvectors than rows), "
            f"so that its eigenvalues do not change smoothly.\n{Location.here().show()}\n"
            f"  fix: symmetric functions of the eigenvalues are smooth in other forms: np.trace, np.linalg.det,\n"
            f"       np.linalg.matrix_power; gt.linalg.expm, logm and sqrtm for functions of the matrix"
        )
    return np.ones(v.shape[:-2], bool)


_require_independent = constant(
    _independent_kernel, name="independent", batch=batch_as_stack, samples=lambda draw: [((draw(3, 3),), {})]
)


def _largest(v: Array) -> Any:
    """Where in each column its largest component is, the one that is real."""
    return np.arange(v.shape[-2])[:, None] == np.argmax(np.abs(v), axis=-2)[..., None, :]


def _eig_reverse(g: Array, out: Array, strict: bool) -> Any:
    (gw, gv), (w, v) = g, out
    if not w.size:
        return np.zeros(v.shape, v.dtype)
    _require_independent(v)
    inner = with_diagonal(gw)
    if not is_absent(gv):
        along = diagonal_of(adjoint(v) @ gv)
        largest = _largest(v)
        real_one = np.where(largest, np.conj(v), 1)
        gv = gv - v * np.real(along) - np.where(largest, 1j * np.imag(along) / real_one, 0)
        mixing = adjoint(v) @ gv
        used = np.ones(w.shape, bool) if strict else somewhere(gw)
        weight = np.abs(stop_gradient(mixing)) + np.where(flag_pairs(used), extent(gv), 0)
        gaps = inverse_gaps(marked(w), weight, extent(gv), _EQUAL_EIG)
        inner = inner + np.conj(gaps) * mixing
    return solve(adjoint(v), inner @ adjoint(v))


def _eig_forward(dx: Array, out: Array) -> Any:
    w, v = out
    if not w.size:
        return tuple(np.zeros(part.shape, part.dtype) for part in out)
    _require_independent(v)
    change = solve(v, dx @ v)
    dv = v @ (inverse_gaps(marked(w), stop_gradient(change), extent(dx), _EQUAL_EIG) * change)
    largest = _largest(v)
    stretch = np.real(diagonal_of(adjoint(v) @ dv))
    turn = np.sum(np.where(largest, np.imag(dv / np.where(largest, v, 1)), 0), axis=-2, keepdims=True)
    return diagonal_of(change)[..., 0, :], dv - v * (stretch + 1j * turn)


_eig = general(
    _eig_kernel,
    reverse=_eig_reverse,
    forward=_eig_forward,
    name="eig",
    outputs=True,
    batch=batch_as_stack,
    samples=lambda draw: [
        ((separated(draw, 3, 3),), {"strict": False}),
        ((np.stack([draw(2, 2), np.array([[0.3, -1.0], [1.2, 0.5]])]),), {"strict": True}),
        ((draw(0, 0),), {"strict": False}),
    ],
)


def _eigvals_reverse(g: Array, x: Array) -> Any:
    _, v = _eig(x, strict=True)
    _require_independent(v)
    return solve(adjoint(v), g[..., None] * adjoint(v))


def _eigvals_forward(dx: Array, x: Array) -> Any:
    _, v = _eig(x, strict=True)
    _require_independent(v)
    return diagonal_of(solve(v, dx @ v))[..., 0, :]


_eigvals = general(
    lambda x: _eig_kernel(x, False)[0],  # in the order of the eigenvectors that the rules use
    reverse=_eigvals_reverse,
    forward=_eigvals_forward,
    name="eigvals",
    batch=batch_as_stack,
    samples=lambda draw: [((separated(draw, 3, 3),), {}), ((np.array([[0.3, -1.0], [1.2, 0.5]]),), {})],
)


def _left_kernel(x: Any) -> Any:
    from scipy import linalg

    flat = x.reshape((-1, *x.shape[-2:]))
    found = [linalg.eig(a, left=True, right=False, check_finite=False)[1] for a in flat]
    return np.array(found, np.result_type(x.dtype, np.complex64)).reshape(x.shape)


left_reference = constant(
    _left_kernel,
    name="left eigenvectors as LAPACK turns them",
    batch=batch_as_stack,
    samples=lambda draw: [((draw(3, 3),), {})],
)


def _order_kernel(x: Any, y: Any, values: Any) -> Any:
    """For each eigenvalue that SciPy finds of a pair of matrices, which of `values` it is."""
    from scipy import linalg

    theirs = linalg.eigvals(x, y, check_finite=False)
    distances = np.abs(theirs[:, None] - values)
    order = np.zeros(len(theirs), np.intp)
    for row in range(len(theirs)):
        order[row] = np.argmin(distances[row])
        distances[:, order[row]] = np.inf
    return order


order_of_pair = constant(
    _order_kernel,
    name="order of generalised eigenvalues",
    samples=lambda draw: [((np.diag([1.0, 2.0]), np.eye(2), np.array([2.0, 1.0])), {})],
)


def real_if_all_are(a: Array, *results: Any) -> tuple[Any, ...]:
    """The results as real numbers if the matrix is real and so are all its eigenvalues; of a batch, all of them."""
    if a.dtype.kind == "c":
        return results
    values = stop_gradient(results[0])
    while isinstance(values, BatchTensor):
        values = values.value
    if np.any(np.imag(values) != 0):  # when it is compiled, a guard
        return results
    return tuple(np.real(result) for result in results)


@functools.cache
def _always_complex() -> bool:
    """Whether `np.linalg.eig` and `eigvals` give complex results for every matrix: from NumPy 2.5 on."""
    return np.linalg.eigvals(np.ones((1, 1))).dtype.kind == "c"


def _as_numpy_would(a: Array, *results: Any) -> tuple[Any, ...]:
    return results if _always_complex() else real_if_all_are(a, *results)


@answers(np.linalg.eig)
def eig(a: TensorLike) -> EigResult:
    """The eigenvalues and eigenvectors of any square matrix, as `np.linalg.eig`.

    Complex from NumPy 2.5 on. Before it, real if the matrix and all its eigenvalues are; inside `vmap`, if those of
    all examples are.

    >>> import numpy as np, gradtape as gt
    >>> a = np.array([[1.0, 2.0], [0.0, 3.0]])
    >>> np.linalg.eig(gt.tensor(a)).eigenvalues.real
    Tensor([1., 3.])
    >>> gt.grad(lambda a: np.linalg.eig(a).eigenvalues[0].real)(a)
    array([[ 1.,  0.],
           [-1.,  0.]])
    """
    a = as_value(a)
    values, vectors = _eig(a, strict=False)
    return EigResult(*_as_numpy_would(a, marked(values), vectors))


@answers(np.linalg.eigvals)
def eigvals(a: TensorLike) -> Any:
    """The eigenvalues of any square matrix, as `np.linalg.eigvals`; real or complex as those of `eig` are.

    >>> import numpy as np, gradtape as gt
    >>> np.linalg.eigvals(gt.tensor([[0.0, 1.0], [-1.0, 0.0]]))
    Tensor([0.+1.j, 0.-1.j], dtype=complex128)
    """
    a = as_value(a)
    return _as_numpy_would(a, _eigvals(a))[0]


def complex_eig(a: Any) -> tuple[Any, Any]:
    """The eigenvalues and eigenvectors of any square matrix, complex in every case."""
    values, vectors = _eig(a, strict=False)
    return marked(values), vectors


def complex_eigvals(a: Any) -> Any:
    """The eigenvalues of any square matrix, complex in every case."""
    return _eigvals(a)


def eigvals_real_if_all_are(a: Any) -> Any:
    """The eigenvalues as `np.roots` and `np.poly` use them: real if the matrix and all of them are, in every NumPy."""
    return real_if_all_are(a, _eigvals(a))[0]
