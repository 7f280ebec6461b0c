"""The linear algebra extension of the standard."""

from __future__ import annotations

from typing import Any, NamedTuple

from gradtape import ops
from gradtape.array_api.arguments import ArgumentError, array, as_dtype
from gradtape.array_api.linear import matmul, matrix_transpose, tensordot, vecdot
from gradtape.array_api.statistics import in_dtype
from gradtape.extend import argument_error
from gradtape.ops import decompositions, determinants, eigen, least_squares, norms
from gradtape.ops import svd as singular

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


class EighResult(NamedTuple):
    """Eigenvalues in ascending order, and the eigenvectors as columns."""

    eigenvalues: Any
    eigenvectors: Any


class QRResult(NamedTuple):
    """Orthonormal columns, and the upper triangle that combines them."""

    Q: Any
    R: Any


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its absolute value."""

    sign: Any
    logabsdet: Any


class SVDResult(NamedTuple):
    """Left singular vectors as columns, singular values in descending order, right singular vectors as rows."""

    U: Any
    S: Any
    Vh: Any


def _matrices(x: Any, function: str, argument: str = "x") -> Any:
    x = array(x, function, argument)
    if x.ndim < 2:
        raise argument_error(
            ArgumentError, f"{function}: {argument} has shape {x.shape}.", "matrices: at least two axes"
        )
    return x


def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """The triangular factors of positive definite matrices.

    >>> import gradtape.array_api as xp
    >>> xp.linalg.cholesky(xp.asarray([[4.0, 0.0], [0.0, 9.0]]))
    Tensor([[2., 0.],
            [0., 3.]])
    """
    return decompositions.cholesky(_matrices(x, "linalg.cholesky"), upper=upper)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The vector products of three-dimensional vectors along an axis."""
    return ops.cross(array(x1, "linalg.cross", "x1"), array(x2, "linalg.cross", "x2"), axis=axis)


def det(x: Any, /) -> Any:
    """The determinants of matrices."""
    return determinants.det(_matrices(x, "linalg.det"))


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """The diagonals of matrices."""
    return ops.diagonal(_matrices(x, "linalg.diagonal"), offset, -2, -1)


def eigh(x: Any, /) -> EighResult:
    """The eigenvalues and eigenvectors of Hermitian matrices."""
    return EighResult(*eigen.eigh(_matrices(x, "linalg.eigh")))


def eigvalsh(x: Any, /) -> Any:
    """The eigenvalues of Hermitian matrices."""
    return eigen.eigvalsh(_matrices(x, "linalg.eigvalsh"))


def inv(x: Any, /) -> Any:
    """The inverses of matrices."""
    return decompositions.inv(_matrices(x, "linalg.inv"))


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """The norms of matrices."""
    return norms.matrix_norm(_matrices(x, "linalg.matrix_norm"), keepdims=keepdims, ord="fro" if ord is None else ord)


def matrix_power(x: Any, n: int, /) -> Any:
    """Square matrices multiplied by themselves; a negative power is one of the inverse."""
    return decompositions.matrix_power(_matrices(x, "linalg.matrix_power"), n)


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Any:
    """How many singular values of each matrix exceed `rtol` times the largest."""
    return norms.matrix_rank(_matrices(x, "linalg.matrix_rank"), rtol=rtol)


def outer(x1: Any, x2: Any, /) -> Any:
    """Every product of an element of one vector and one of the other."""
    vectors = array(x1, "linalg.outer", "x1"), array(x2, "linalg.outer", "x2")
    for argument, vector in zip(("x1", "x2"), vectors, strict=True):
        if vector.ndim != 1:
            raise argument_error(ArgumentError, f"linalg.outer: {argument} has shape {vector.shape}.", "two vectors")
    return ops.outer(*vectors)


def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """The pseudo-inverses of matrices."""
    return least_squares.pinv(_matrices(x, "linalg.pinv"), rtol=rtol)


def qr(x: Any, /, *, mode: str = "reduced") -> QRResult:
    """Matrices as products of orthonormal columns and an upper triangle."""
    if mode not in ("reduced", "complete"):
        raise argument_error(ArgumentError, f"linalg.qr: mode={mode!r}.", "'reduced' or 'complete'")
    return QRResult(*decompositions.qr(_matrices(x, "linalg.qr"), mode))


def slogdet(x: Any, /) -> SlogdetResult:
    """The signs and the logarithms of the absolute values of determinants."""
    return SlogdetResult(*determinants.slogdet(_matrices(x, "linalg.slogdet")))


def solve(x1: Any, x2: Any, /) -> Any:
    """What `x1` times it is `x2`."""
    return decompositions.solve(_matrices(x1, "linalg.solve", "x1"), array(x2, "linalg.solve", "x2"))


def svd(x: Any, /, *, full_matrices: bool = True) -> SVDResult:
    """The singular value decompositions of matrices."""
    return SVDResult(*singular.svd(_matrices(x, "linalg.svd"), full_matrices))


def svdvals(x: Any, /) -> Any:
    """The singular values of matrices."""
    return singular.svdvals(_matrices(x, "linalg.svdvals"))


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The sums of the diagonals of matrices; small integers are added up as 64-bit ones."""
    dtype = as_dtype(dtype, "linalg.trace")
    return in_dtype(ops.sum(diagonal(x, offset=offset), -1, dtype=dtype), dtype)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Any:
    """The norms of the vectors along axes; all axes together are one vector."""
    return norms.vector_norm(array(x, "linalg.vector_norm"), axis=axis, keepdims=keepdims, ord=ord)
