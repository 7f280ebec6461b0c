"""Schur and Hessenberg forms: a = z t z^H with a unitary z, and a t that is zero in most places below its diagonal.

With w = z^H dz, which is antihermitian, dt = z^H da z + t w - w t. The places where t stays zero (and where the two
diagonal elements of a block of two stay equal, as LAPACK makes them) are as many equations as w has unknown elements.
They are solved as one dense system, so that a derivative costs the sixth power of the size of the matrix.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from gradtape.core.operation import Lifted
from gradtape.core.rules import constant, general
from gradtape.core.tensor import plain
from gradtape.core.typing import Array, TensorLike
from gradtape.errors import LinearAlgebraError, UnsupportedError
from gradtape.ops.arguments import argument_error, as_value
from gradtape.ops.conversion import stop_gradient
from gradtape.ops.eigen import separated
from gradtape.ops.linalg_common import adjoint, batch_as_stack, is_absent, over_stack


@functools.lru_cache(maxsize=32)
def _places(n: int, hessenberg: bool) -> tuple[Any, Any, Any]:
    """For each unknown a matrix with a one in its place, and the rows and columns of t that the equations are about."""
    rows, columns = np.tril_indices(n, -1)
    free = columns >= int(hessenberg)
    basis = np.zeros((int(free.sum()), n, n))
    basis[np.arange(len(basis)), rows[free], columns[free]] = 1
    zero = rows > columns + int(hessenberg)
    return basis, rows[zero], columns[zero]


class _Conditions:
    """The linear system for w at one t, or at a stack of them."""

    def __init__(self, t: Array, hessenberg: bool) -> None:
        self.n = t.shape[-1]
        basis, self.rows, self.columns = _places(self.n, hessenberg)
        self.is_complex = t.dtype.kind == "c"
        if not self.is_complex:  # of a complex t only what is below the diagonal of w is in the equations
            basis = basis - np.swapaxes(basis, -1, -2)
        self.basis = basis.astype(t.dtype)
        beside = self.rows == self.columns + 1
        self.block = np.logical_and(beside, stop_gradient(t)[..., self.rows, self.columns] != 0)
        each = t[..., None, :, :]
        picked = self.picked(each @ self.basis - self.basis @ each, self.block[..., None, :])
        self.matrix = np.swapaxes(picked, -1, -2)
        _require_separate(self.matrix, t, what="hessenberg" if hessenberg else "schur")

    def picked(self, x: Array, block: Any) -> Any:
        """What has to stay zero: elements, and of the blocks of two the differences on the diagonal."""
        rows, columns = self.rows, self.columns
        return np.where(block, x[..., columns, columns] - x[..., rows, rows], x[..., rows, columns])

    def spread(self, y: Array) -> Any:
        """The transpose of `picked`."""
        count, each = len(self.rows), np.arange(len(self.rows))
        here, across = np.zeros((2, count, self.n, self.n), y.dtype)
        here[each, self.rows, self.columns] = 1
        across[each, self.columns, self.columns] = 1
        across[each, self.rows, self.rows] = -1
        return np.tensordot(np.where(self.block, 0, y), here, 1) + np.tensordot(np.where(self.block, y, 0), across, 1)

    def rotation(self, change: Array) -> Any:
        """The w at which the equations hold when z^H da z is `change`."""
        unknown = np.linalg.solve(self.matrix, -self.picked(change, self.block)[..., None])[..., 0]
        lower = np.tensordot(unknown, self.basis, 1)
        return lower - adjoint(lower) if self.is_complex else lower

    def pulled(self, cotangent: Array) -> Any:
        """The transpose of `rotation`."""
        g = cotangent - adjoint(cotangent) if self.is_complex else cotangent
        sums = np.tensordot(g, self.basis, ((-2, -1), (-2, -1)))
        return -self.spread(np.linalg.solve(adjoint(self.matrix), sums[..., None])[..., 0])


def _separate_kernel(x: Array, y: Array, what: str) -> Any:
    if x.size:
        smallest = np.min(np.linalg.svd(x, compute_uv=False), axis=-1)
        size = np.max(np.abs(y), axis=(-2, -1))
        if np.any(smallest <= 8 * x.shape[-1] * np.finfo(x.dtype).eps * size):
            raise argument_error(
                LinearAlgebraError,
                f"the gradient of {what} does not exist here: two eigenvalues are equal (to rounding), or part of the "
                f"matrix is in that form already, so that some vectors are arbitrary.",
                "separate the eigenvalues by a small change of the matrix; gt.linalg.expm, logm and sqrtm for "
                "functions of the matrix",
            )
    return np.ones(np.broadcast_shapes(x.shape[:-2], y.shape[:-2]), bool)


_require_separate = constant(
    _separate_kernel,
    name="separate eigenvalues",
    batch=batch_as_stack,
    samples=lambda draw: [((draw(3, 3), draw(3, 3)), {"what": "schur"})],
)


def _phases_kernel(x: Array) -> Any:
    free = np.abs(np.imag(np.diagonal(x, axis1=-2, axis2=-1)))
    size = np.max(np.abs(x), axis=(-2, -1), initial=0)
    if np.any(np.max(free, axis=-1, initial=0) > np.sqrt(np.finfo(x.dtype).eps) * size):
        raise argument_error(
            LinearAlgebraError,
            "the gradient of schur does not exist here: it depends on the phases of the columns of z, free for "
            "complex matrices.",
            "what does not depend on them: the eigenvalues, np.abs of an element, z @ f @ z.conj().T",
        )
    return np.ones(x.shape[:-2], bool)


_require_no_phases = constant(
    _phases_kernel,
    name="independent of phases",
    batch=batch_as_stack,
    samples=lambda draw: [((draw(3, 3),), {})],
)


def _similar_reverse(g: Array, out: Array, hessenberg: bool) -> Any:
    (gt, gz), (t, z) = g, out
    turning = adjoint(t) @ gt - gt @ adjoint(t)
    if not is_absent(gz):
        turning = turning + adjoint(z) @ gz
    if t.dtype.kind == "c":
        _require_no_phases(turning)
    return z @ (gt + _Conditions(t, hessenberg).pulled(turning)) @ adjoint(z)


def _similar_forward(dx: Array, out: Array, hessenberg: bool) -> Any:
    t, z = out
    change = adjoint(z) @ dx @ z
    w = _Conditions(t, hessenberg).rotation(change)
    return change + t @ w - w @ t, z @ w


def _similar_kernel(x: Array, hessenberg: bool, sort: Any) -> tuple[Any, Any]:
    from scipy import linalg

    def one(a: Array) -> Any:
        if not a.size:
            return np.zeros((2, 0, 0), a.dtype)
        if hessenberg:
            return np.stack(linalg.hessenberg(a, calc_q=True, check_finite=False))
        return np.stack(linalg.schur(a, output="real", sort=sort, check_finite=False)[:2])

    both = over_stack(one, np.asarray(x))
    return both[..., 0, :, :], both[..., 1, :, :]


similar = general(
    _similar_kernel,
    reverse=_similar_reverse,
    forward=_similar_forward,
    name="schur_or_hessenberg",
    outputs=True,
    batch=batch_as_stack,
    samples=lambda draw: [
        ((separated(draw, 3, 3),), {"hessenberg": False, "sort": None}),
        ((np.array([[0.3, -1.0, 0.2], [1.2, 0.5, 0.4], [0.1, -0.3, 2.0]]),), {"hessenberg": False, "sort": None}),
        ((draw(4, 4),), {"hessenberg": True, "sort": None}),
    ],
    doc="The Schur form of a matrix, or its Hessenberg form, and the unitary matrix.",
)


_selected = constant(
    lambda x, sort, output: np.asarray(_count_selected(x, sort, output)),
    name="selected eigenvalues",
    samples=lambda draw: [((draw(3, 3),), {"sort": "lhp", "output": "real"})],
    doc="How many eigenvalues a sorted Schur form has in front.",
)


def _count_selected(x: Array, sort: Any, output: str) -> int:
    from scipy import linalg

    return int(linalg.schur(x, output=output, sort=sort, check_finite=False)[2])


def schur(a: Any, output: str = "real", sort: Any = None) -> Any:
    """The Schur form t and the unitary z of a = z @ t @ z^H, as `scipy.linalg.schur`.

    >>> import gradtape as gt
    >>> t, z = schur(gt.tensor([[1.0, 2.0], [0.0, 3.0]]))
    >>> t
    Tensor([[1., 2.],
            [0., 3.]])
    """
    a = _one_matrix(a, "schur")
    if output not in ("real", "complex", "r", "c"):
        raise argument_error(LinearAlgebraError, f"schur: output={output!r}.", "'real' or 'complex'")
    if output in ("complex", "c") and a.dtype.kind != "c":
        a = a.astype(np.result_type(a.dtype, np.complex64))
    t, z = similar(a, hessenberg=False, sort=sort)
    if sort is None:
        return t, z
    count = _selected(a, sort=sort, output=output)
    return t, z, count if isinstance(count, Lifted) else int(plain(count))


def hessenberg(a: Any, calc_q: bool = False) -> Any:
    """The Hessenberg form h of a = q @ h @ q^H, and with `calc_q` the unitary q, as `scipy.linalg.hessenberg`.

    >>> import gradtape as gt
    >>> hessenberg(gt.tensor([[1.0, 2.0], [4.0, 3.0]]))
    Tensor([[1., 2.],
            [4., 3.]])
    """
    a = _one_matrix(a, "hessenberg")
    if a.dtype.kind == "c":
        raise argument_error(
            UnsupportedError,
            "hessenberg of a complex matrix has no derivative in gradtape: the phases in it are LAPACK's choice.",
            "schur(a, output='complex') has one, for what does not depend on phases",
        )
    h, q = similar(a, hessenberg=True, sort=None)
    return (h, q) if calc_q else h


def _one_matrix(a: TensorLike, name: str) -> Any:
    a = as_value(a)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise argument_error(LinearAlgebraError, f"{name}: an array of shape {a.shape}.", "one square matrix")
    return a
