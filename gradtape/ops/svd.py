"""Singular values and singular vectors.

What `spectral` says of eigenvectors holds here too: a pair of singular vectors has a common phase, which LAPACK chooses
so that the first component of the shorter one is real, and those of a repeated singular value may be rotated together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtape.core.operation import Lifted
from gradtape.core.rules import constant, general
from gradtape.core.tensor import Tensor, is_tracked
from gradtape.core.typing import Array, Draw, TensorLike
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import as_value
from gradtape.ops.conversion import stop_gradient
from gradtape.ops.eigen import PHASE, REPEATED, eigh, phase_change, rotation_weight, separated, without_turning
from gradtape.ops.linalg_common import (
    adjoint,
    append_basis_vectors,
    batch_as_stack,
    diagonal_of,
    extent,
    guarded_reciprocal,
    inverse_gaps,
    is_absent,
    marked,
    over_stack,
    somewhere,
    with_diagonal,
)


class SVDResult(NamedTuple):
    """The results of `svd`."""

    U: Any
    S: Any
    Vh: Any


# -- svd: A = U diag(s) V^H. With P = U^H dA V:  ds = Re diag(P), and the rotations R = U^H dU, T = V^H dV follow from
#    R + T = (P + P^H)_ij / (s_j - s_i)   and   R - T = (P - P^H)_ij / (s_j + s_i)


def _svd_kernel(x: Array, strict: bool) -> tuple[Any, Any, Any]:
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return u, s, vh


_EQUAL_SINGULAR = REPEATED.format(op="svd", values="singular values")
_ZERO_SINGULAR = (
    "the gradient of svd does not exist here: singular value {column} is zero (to rounding), so that its vectors are "
    "determined only up to factors and rotations that this gradient depends on."
)


def _inverse_sums(s: Any, weight: Array, scale: Array) -> Any:
    sums = s[..., None, :] + s[..., :, None]
    return guarded_reciprocal(sums, extent(s[..., None]), stop_gradient(weight), scale, refusal=_ZERO_SINGULAR)


def _inverse_values(s: Any, outside: Array, scale: Array) -> Any:
    """1/s in the shape of `outside`, whose columns it is needed for."""
    weight = stop_gradient(outside)
    return guarded_reciprocal(s[..., None, :], extent(s[..., None]), weight, scale, refusal=_ZERO_SINGULAR)


_slopes = constant(
    lambda s, longest: (s > 4 * longest * np.finfo(s.dtype).eps * np.max(s, axis=-1, keepdims=True, initial=0)).astype(
        s.dtype
    ),
    name="slope of singular values",
    batch=batch_as_stack,
    samples=lambda draw: [((draw(3),), {"longest": 3}), ((np.zeros(2),), {"longest": 2})],
    doc="1, and 0 where a singular value is zero: like the absolute value it has a kink there.",
)


def _svd_reverse(g: Array, out: Array, strict: bool) -> Any:
    gu, gs, gvh = g
    u, s, vh = out
    rows, columns = u.shape[-2], vh.shape[-1]
    if not s.size:
        return np.zeros((*u.shape[:-1], columns), u.dtype)
    s = marked(s)
    inner = with_diagonal(gs * _slopes(s, longest=max(rows, columns))).astype(u.dtype)
    if is_absent(gu) and is_absent(gvh):
        return u @ inner @ vh
    v, gv = adjoint(vh), adjoint(gvh)
    left, right = adjoint(u) @ gu, vh @ gv
    scale = extent(gu) + extent(gv)
    if u.dtype.kind == "c":
        turning = np.imag(diagonal_of(left + right))
        refusal = PHASE.format(op="svd", vector="singular vector")
        if rows >= columns:
            gv = without_turning(gv, turning, v, 0, scale, refusal)
        else:
            gu = without_turning(gu, turning, u, 0, scale, refusal)
        left, right = adjoint(u) @ gu, vh @ gv
    used = np.ones(s.shape, bool) if strict else somewhere(gs)
    together, apart = left + right, left - right
    gaps = inverse_gaps(s, rotation_weight(together, used), scale, _EQUAL_SINGULAR)
    sums = _inverse_sums(s, apart - adjoint(apart), scale)
    inner = inner + (gaps * (together - adjoint(together)) + sums * (apart - adjoint(apart))) / 2
    gradient = u @ inner @ vh
    if rows > columns:
        outside = gu - u @ left
        gradient = gradient + (outside * _inverse_values(s, outside, scale)) @ vh
    if rows < columns:
        outside = gv - v @ right
        gradient = gradient + u @ adjoint(outside * _inverse_values(s, outside, scale))
    return gradient


def _svd_forward(dx: Array, out: Array) -> Any:
    u, s, vh = out
    if not s.size:
        return tuple(np.zeros(part.shape, part.dtype) for part in out)
    s = marked(s)
    rows, columns = u.shape[-2], vh.shape[-1]
    v = adjoint(vh)
    change = adjoint(u) @ dx @ v
    even, odd = change + adjoint(change), change - adjoint(change)
    scale = extent(dx)
    even = inverse_gaps(s, stop_gradient(even), scale, _EQUAL_SINGULAR) * even
    odd = _inverse_sums(s, odd, scale) * odd
    du, dv = u @ ((even + odd) / 2), v @ ((even - odd) / 2)
    if rows > columns:
        outside = dx @ v - u @ change
        du = du + outside * _inverse_values(s, outside, scale)
    if rows < columns:
        outside = adjoint(dx) @ u - v @ adjoint(change)
        dv = dv + outside * _inverse_values(s, outside, scale)
    if u.dtype.kind == "c":
        turn = phase_change(dv, v, 0) if rows >= columns else phase_change(du, u, 0)
        du, dv = du - 1j * u * turn, dv - 1j * v * turn
    return du, np.real(diagonal_of(change))[..., 0, :], adjoint(dv)


def _svd_samples(draw: Draw) -> list[Any]:
    shapes = [(3, 3), (4, 2), (2, 4)]
    single = [((separated(draw, *shape),), {"strict": False}) for shape in shapes]
    stack = np.stack([separated(draw, 3, 2), separated(draw, 3, 2)])
    return [*single, ((stack,), {"strict": True}), ((draw(0, 2),), {"strict": False})]


_svd = general(
    _svd_kernel,
    reverse=_svd_reverse,
    forward=_svd_forward,
    name="svd",
    outputs=True,
    batch=batch_as_stack,
    samples=_svd_samples,
)


def _svd_by_driver(x: Array, strict: bool, driver: str) -> tuple[Any, Any, Any]:
    from scipy import linalg

    x = np.asarray(x)
    if not x.size:
        return _svd_kernel(x, strict)
    n, k = x.shape[-1], min(x.shape[-2:])
    width = max(k, n)

    def one(matrix: Array) -> Any:
        u, s, vh = linalg.svd(matrix, full_matrices=False, lapack_driver=driver, check_finite=False)
        rows = [u, s[None], vh]
        return np.concatenate([np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in rows])

    rows = x.shape[-2]
    packed = over_stack(one, x)
    return packed[..., :rows, :k], packed[..., rows, :k].real, packed[..., rows + 1 :, :n]


svd_by_driver = general(
    _svd_by_driver,
    reverse=_svd_reverse,
    forward=_svd_forward,
    name="svd_by_driver",
    outputs=True,
    batch=batch_as_stack,
    samples=lambda draw: [((separated(draw, 3, 2),), {"strict": False, "driver": "gesvd"})],
    doc="The singular value decomposition with the signs that a driver of LAPACK gives it, as `scipy.linalg.svd`.",
)


def _svdvals_reverse(g: Array, x: Array) -> Any:
    u, s, vh = _svd(x, strict=True)
    return (u * (g * _slopes(s, longest=max(x.shape[-2:])))[..., None, :]) @ vh


def _svdvals_forward(dx: Array, x: Array) -> Any:
    u, s, vh = _svd(x, strict=True)
    return np.real(np.sum(np.conj(u) * (dx @ adjoint(vh)), axis=-2)) * _slopes(s, longest=max(x.shape[-2:]))


_svdvals = general(
    lambda x: np.linalg.svd(x, compute_uv=False),
    reverse=_svdvals_reverse,
    forward=_svdvals_forward,
    name="svdvals",
    batch=batch_as_stack,
    samples=lambda draw: [((separated(draw, 3, 3),), {}), ((separated(draw, 2, 4),), {}), ((draw(0, 2),), {})],
)


@answers(np.linalg.svdvals)
def svdvals(x: TensorLike) -> Any:
    """The singular values in descending order, as `np.linalg.svdvals`; the gradient of one that is 0 is 0.

    >>> import numpy as np, gradtape as gt
    >>> np.linalg.svdvals(gt.tensor([[3.0, 0.0], [0.0, -4.0]]))
    Tensor([4., 3.])
    """
    return _svdvals(as_value(x))


_full_svd = constant(
    lambda x: tuple(np.linalg.svd(x, full_matrices=True)),
    name="svd with full_matrices=True",
    outputs=True,
    batch=batch_as_stack,
    samples=lambda draw: [((draw(3, 2),), {})],
)


@answers(np.linalg.svd)
def svd(a: TensorLike, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """The singular value decomposition a = U diag(S) Vh, as `np.linalg.svd`.

    The vectors that `full_matrices=True` adds to those of a matrix that is not square are any that complete a basis:
    they have no derivative, and a gradient that depends on them raises `UnsupportedError`. For repeated and zero
    singular values the same holds as for repeated eigenvalues in `eigh`.

    >>> import numpy as np, gradtape as gt
    >>> a = np.array([[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    >>> np.linalg.svd(gt.tensor(a), full_matrices=False).S
    Tensor([3., 2.])
    >>> gt.grad(lambda a: np.linalg.svd(a, full_matrices=False).S[0])(a)
    array([[1., 0.],
           [0., 0.],
           [0., 0.]])
    """
    a = as_value(a)
    if hermitian:
        return _hermitian_svd(a, compute_uv)
    if not compute_uv:
        return _svdvals(a)
    whole = _full_svd(a) if full_matrices and a.ndim > 1 and a.shape[-1] != a.shape[-2] else None
    if whole is not None and not isinstance(a, Lifted) and not (isinstance(a, Tensor) and is_tracked(a)):
        return SVDResult(*whole)
    u, s, vh = _svd(a, strict=False)
    if whole is not None:
        known = s.shape[-1]
        if u.shape[-2] > known:
            u = append_basis_vectors(a, u, -1, whole[0][..., known:], "svd")
        else:
            vh = append_basis_vectors(a, vh, -2, whole[2][..., known:, :], "svd")
    return SVDResult(u, marked(s), vh)


def _hermitian_svd(a: Array, compute_uv: bool) -> Any:
    """The singular values of a Hermitian matrix: the sizes of its eigenvalues, the largest first."""
    values, vectors = eigh(a)
    sizes = np.abs(values)
    order = np.flip(np.argsort(sizes, axis=-1), axis=-1)
    singular = np.take_along_axis(sizes, order, axis=-1)
    if not compute_uv:
        return singular
    left = np.take_along_axis(vectors, order[..., None, :], axis=-1)
    signs = np.take_along_axis(np.sign(values), order, axis=-1)
    return SVDResult(left, singular, adjoint(left * signs[..., None, :]))
