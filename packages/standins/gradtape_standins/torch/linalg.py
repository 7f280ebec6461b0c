"""`torch.linalg`: decompositions, solutions, norms."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import gradtape as gt
from gradtape_standins.missing_names import missing
from gradtape_standins.torch.errors import LinAlgError
from gradtape_standins.torch.matrices import cross, matmul
from gradtape_standins.torch.reductions import _Pair
from gradtape_standins.torch.shaping import diagonal
from gradtape_standins.torch.wrapping import cast, function

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "lu",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]


def fields(name: str, *fields: str, chapter: str = "linalg_") -> Any:
    """A class of results with names, which print as PyTorch prints them."""
    base = NamedTuple(name, [(field, Any) for field in fields])  # type: ignore[misc]
    return type(name, (_Pair, base), {"_name": f"{chapter}{name}", "__slots__": ()})


_Eig = fields("eig", "eigenvalues", "eigenvectors")
_Eigh = fields("eigh", "eigenvalues", "eigenvectors")
_Svd = fields("svd", "U", "S", "Vh")
_Qr = fields("qr", "Q", "R")
_Slogdet = fields("slogdet", "sign", "logabsdet")
_Lu = fields("lu", "P", "L", "U")
_Lstsq = fields("lstsq", "solution", "residuals", "rank", "singular_values")


@function("LinalgCholeskyEx")
def cholesky(input: Any, *, upper: bool = False) -> Any:
    """The triangular factor of a positive definite matrix."""
    return gt.linalg.cholesky(input, upper=upper)


@function("LinalgDet")
def det(A: Any) -> Any:
    """The determinant."""
    return gt.linalg.det(A)


@function("LinalgSlogdet")
def slogdet(A: Any) -> Any:
    """The sign of the determinant, and the logarithm of its size."""
    return _Slogdet(*gt.linalg.slogdet(A))


@function("LinalgEig")
def eig(A: Any) -> Any:
    """Eigenvalues and eigenvectors of a square matrix, complex."""
    kind = np.result_type(A.dtype, np.complex64)
    return _Eig(*gt.linalg.eig(cast(A, kind)))


@function("LinalgEigh")
def eigh(A: Any, UPLO: str = "L") -> Any:
    """Eigenvalues and eigenvectors of a symmetric matrix."""
    return _Eigh(*gt.linalg.eigh(A, UPLO))


@function("Mul")
def logdet(A: Any) -> Any:
    """The logarithm of the determinant, NaN where it is negative."""
    sign, logarithm = gt.linalg.slogdet(A)
    return gt.where(gt.less(sign, 0), np.asarray(np.nan, A.dtype), logarithm)


@function("LinalgEig")
def eigvals(A: Any) -> Any:
    """Eigenvalues of a square matrix, complex."""
    return gt.linalg.eigvals(cast(A, np.result_type(A.dtype, np.complex64)))


@function("LinalgEigh")
def eigvalsh(A: Any, UPLO: str = "L") -> Any:
    """Eigenvalues of a symmetric matrix."""
    return gt.linalg.eigvalsh(A, UPLO)


@function("LinalgInvEx")
def inv(A: Any) -> Any:
    """The inverse of a matrix."""
    return gt.linalg.inv(A)


@function("LinalgPinv")
def pinv(A: Any, *, rtol: Any = None, hermitian: bool = False) -> Any:
    """The pseudoinverse."""
    return gt.linalg.pinv(A, rtol, hermitian)


@function("LinalgSolveEx")
def solve(A: Any, B: Any, *, left: bool = True) -> Any:
    """X of A X = B."""
    if not left:
        return gt.matrix_transpose(gt.linalg.solve(gt.matrix_transpose(A), gt.matrix_transpose(B)))
    vector = len(B.shape) == 1 or (len(A.shape) - 1 == len(B.shape) and A.shape[:-1] == B.shape)
    return gt.squeeze(gt.linalg.solve(A, gt.expand_dims(B, -1)), -1) if vector else gt.linalg.solve(A, B)


@function("LinalgSolveTriangular")
def solve_triangular(A: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    """X of A X = B (or X A = B, if not `left`) for a triangular A."""
    if not left:
        turned = gt.linalg.solve_triangular(
            gt.matrix_transpose(A), gt.matrix_transpose(B), lower=upper, unit_diagonal=unitriangular
        )
        return gt.matrix_transpose(turned)
    return gt.linalg.solve_triangular(A, B, lower=not upper, unit_diagonal=unitriangular)


@function("LinalgLstsq")
def lstsq(A: Any, B: Any, rcond: float | None = None, *, driver: Any = None) -> Any:
    """X that minimises |A X - B|."""
    solution, residuals, rank, singular = gt.linalg.lstsq(A, B, rcond)
    return _Lstsq(solution, residuals, np.asarray(rank), singular)


@function("LinalgQr")
def qr(A: Any, mode: str = "reduced") -> Any:
    """An orthogonal and an upper triangular factor."""
    return _Qr(*gt.linalg.qr(A, mode))


@function("LinalgSvd")
def svd(A: Any, full_matrices: bool = True) -> Any:
    """Singular vectors and values."""
    return _Svd(*gt.linalg.svd(A, full_matrices))


@function("LinalgSvd")
def svdvals(A: Any) -> Any:
    """Singular values."""
    return gt.linalg.svdvals(A)


@function("LinalgLu")
def lu(A: Any) -> Any:
    """A permutation, a lower and an upper triangular factor."""
    return _Lu(*gt.linalg.lu(A))


@function("LinalgMatrixExp")
def matrix_exp(A: Any) -> Any:
    """The exponential of a square matrix."""
    return gt.linalg.expm(A)


@function("Mm")
def matrix_power(A: Any, n: int) -> Any:
    """A square matrix multiplied by itself."""
    return gt.linalg.matrix_power(A, n)


@function()
def matrix_rank(A: Any, *, tol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    """How many singular values are not 0."""
    return np.asarray(gt.linalg.matrix_rank(A, tol, hermitian, rtol=rtol))


@function("Mm")
def multi_dot(tensors: Any) -> Any:
    """The product of several matrices, in the order that costs least."""
    return gt.linalg.multi_dot(tensors)


@function("LinalgVectorNorm")
def vector_norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of vectors."""
    x = x if dtype is None else cast(x, dtype)
    return gt.linalg.vector_norm(x, axis=tuple(dim) if isinstance(dim, list) else dim, keepdims=keepdim, ord=ord)


_LAST_STEP: dict[Any, int | str] = {"fro": 0, "nuc": "SumBackward1", -1: "Amin", -2: "Amin", -np.inf: "Amin"}


@function("LinalgVectorNorm", lambda A, ord="fro", *args, **kwargs: _LAST_STEP.get(ord, "Amax"))
def matrix_norm(A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of matrices."""
    A = A if dtype is None else cast(A, dtype)
    return gt.linalg.norm(A, ord, tuple(dim), keepdim)


@function("LinalgVectorNorm")
def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of a vector or a matrix."""
    A = A if dtype is None else cast(A, dtype)
    if ord is None:
        return gt.linalg.vector_norm(A, axis=tuple(dim) if isinstance(dim, (list, tuple)) else dim, keepdims=keepdim)
    return gt.linalg.norm(A, ord, tuple(dim) if isinstance(dim, (list, tuple)) else dim, keepdim)


@function("LinalgSvd")
def cond(A: Any, p: Any = None) -> Any:
    """The condition number."""
    return gt.linalg.cond(A, p)


@function("View")
def tensorinv(A: Any, ind: int = 2) -> Any:
    """The inverse with respect to `tensordot`."""
    return gt.linalg.tensorinv(A, ind)


@function("View")
def tensorsolve(A: Any, B: Any, dims: Any = None) -> Any:
    """X of tensordot(A, X) = B."""
    return gt.linalg.tensorsolve(A, B, dims)


@function("Pow")
def vander(x: Any, *, N: int | None = None) -> Any:
    """Powers of the elements of a vector, from 0 on."""
    count = x.shape[-1] if N is None else N
    return gt.power(gt.expand_dims(x, -1), np.arange(count).astype(x.dtype))


@function("Sum")
def vecdot(x: Any, y: Any, *, dim: int = -1) -> Any:
    """The product of vectors along `dim`."""
    return gt.sum(gt.conjugate(x) * y, dim)


__getattr__ = missing(__name__)
