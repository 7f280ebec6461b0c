"""`tf.linalg`: products of matrices, decompositions, solutions, norms."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.standins.names import missing
from gradtape.standins.tensorflow import dtypes
from gradtape.standins.tensorflow.arrays import eye
from gradtape.standins.tensorflow.conversion import axes, integers, same_dtype, tensors, value_of
from gradtape.standins.tensorflow.errors import in_tensorflow_terms, invalid
from gradtape.standins.tensorflow.reductions import l2_normalize
from gradtape.standins.tensorflow.tensor import check_kind, wrap

Qr = namedtuple("Qr", ["q", "r"])
LogMatrixDeterminant = namedtuple("LogMatrixDeterminant", ["sign", "log_abs_determinant"])
Lu = namedtuple("Lu", ["lu", "p"])
_FLOAT = "fc"


def _turned(value: Any, transposed: bool, adjoint: bool) -> Any:
    if transposed and adjoint:
        raise ValueError("matmul: a matrix is transposed or its adjoint is taken, not both")
    if adjoint and value.dtype.kind == "c":
        value = gt.conjugate(value)
    return gt.matrix_transpose(value) if transposed or adjoint else value


@in_tensorflow_terms
def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    name: str | None = None,
) -> Any:
    """The product of matrices, or of each pair in a batch of them.

    >>> from gradtape.standins import tensorflow as tf
    >>> tf.matmul([[1.0, 2.0]], [[3.0], [4.0]]).numpy()
    array([[11.]], dtype=float32)
    """
    one, other = tensors(a, b, "matmul")
    if one.ndim < 2 or other.ndim < 2:
        raise invalid(
            f"matmul: matrices are wanted; the shapes are {one.shape} and {other.shape}",
            "tf.tensordot(a, b, 1)"
            if other.ndim == 1 and one.ndim == 1
            else "tf.linalg.matvec(a, b)"
            if other.ndim == 1
            else "a[tf.newaxis, :], one row, as the first; or tf.tensordot(a, b, 1)"
            if one.ndim == 1
            else "numbers are multiplied by *",
        )
    check_kind(one, "fciu", "matmul")
    return wrap(gt.matmul(_turned(one, transpose_a, adjoint_a), _turned(other, transpose_b, adjoint_b)))


@in_tensorflow_terms
def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """A matrix times a vector."""
    one, other = tensors(a, b, "matvec")
    return wrap(gt.squeeze(gt.matmul(_turned(one, transpose_a, adjoint_a), gt.expand_dims(other, -1)), -1))


@in_tensorflow_terms
def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Any:
    """Summed over pairs of axes."""
    one, other = tensors(a, b, "tensordot")
    chosen = integers(axes)
    return wrap(gt.tensordot(one, other, tuple(chosen) if isinstance(chosen, list) else chosen))


@in_tensorflow_terms
def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Any:
    """Einstein's summation.

    >>> from gradtape.standins import tensorflow as tf
    >>> tf.einsum("i,i->", [1.0, 2.0], [3.0, 4.0]).numpy()
    np.float32(11.0)
    """
    return wrap(gt.einsum(equation, *same_dtype(inputs, "einsum")))


@in_tensorflow_terms
def cross(a: Any, b: Any, name: str | None = None) -> Any:
    """The cross product of vectors with three elements, along the last axis."""
    return wrap(gt.cross(*tensors(a, b, "cross")))


@in_tensorflow_terms
def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Any:
    """The last two axes exchanged."""
    return wrap(_turned(value_of(a), not conjugate, conjugate))


@in_tensorflow_terms
def adjoint(matrix: Any, name: str | None = None) -> Any:
    """The last two axes exchanged, and conjugated."""
    return wrap(_turned(value_of(matrix), False, True))


@in_tensorflow_terms
def trace(x: Any, name: str | None = None) -> Any:
    """The sum of the diagonal of the last two axes."""
    value = value_of(x)
    found = gt.trace(value, 0, value.ndim - 2, value.ndim - 1)
    return wrap(found if found.dtype == value.dtype else gt.astype(found, value.dtype))


@in_tensorflow_terms
def diag(diagonal: Any, name: str = "diag", k: int = 0, **others: Any) -> Any:
    """A matrix with the last axis of `diagonal` on its diagonal `k`."""
    value = value_of(diagonal)
    length, shift = value.shape[-1], integers(k)
    side = length + abs(shift)
    rows = np.arange(length) + max(-shift, 0)
    columns = np.arange(length) + max(shift, 0)
    zeros = gt.Tensor(np.zeros((*value.shape[:-1], side, side), value.dtype))
    return wrap(gt.at(zeros)[..., rows, columns].set(value))


@in_tensorflow_terms
def diag_part(input: Any, name: str = "diag_part", k: int = 0, **others: Any) -> Any:
    """The diagonal `k` of the last two axes."""
    return wrap(gt.diagonal(value_of(input), integers(k), -2, -1))


def tensor_diag(diagonal: Any, name: str | None = None) -> Any:
    """A matrix with a vector on its diagonal."""
    return diag(diagonal)


def tensor_diag_part(input: Any, name: str | None = None) -> Any:
    """The diagonal of a matrix."""
    return diag_part(input)


@in_tensorflow_terms
def set_diag(input: Any, diagonal: Any, name: str = "set_diag", k: int = 0, **others: Any) -> Any:
    """The matrix with another diagonal."""
    matrix, new = tensors(input, diagonal, "set_diag")
    shift = integers(k)
    rows = np.arange(new.shape[-1]) + max(-shift, 0)
    return wrap(gt.at(matrix)[..., rows, rows + shift].set(new))


@in_tensorflow_terms
def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Any:
    """The elements near the diagonal; the others are zero. A number below zero keeps that whole side."""
    value, lower, upper = value_of(input), integers(num_lower), integers(num_upper)
    if lower >= 0:
        value = gt.triu(value, -lower)
    return wrap(gt.tril(value, upper) if upper >= 0 else value)


def _matrix(x: Any, what: str, square: bool = True) -> Any:
    value = value_of(x)
    check_kind(value, _FLOAT, what)
    if value.ndim < 2 or (square and value.shape[-1] != value.shape[-2]):
        raise invalid(f"{what}: {'square ' if square else ''}matrices are wanted; the shape is {value.shape}")
    return value


@in_tensorflow_terms
def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """The inverse of a matrix."""
    return wrap(_turned(gt.linalg.inv(_matrix(input, "inv")), False, adjoint))


@in_tensorflow_terms
def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Any:
    """The pseudo-inverse of a matrix."""
    return wrap(gt.linalg.pinv(_matrix(a, "pinv", False), rcond))


@in_tensorflow_terms
def det(input: Any, name: str | None = None) -> Any:
    """The determinant."""
    return wrap(gt.linalg.det(_matrix(input, "det")))


@in_tensorflow_terms
def slogdet(input: Any, name: str | None = None) -> Any:
    """The sign of the determinant, and the logarithm of its absolute value."""
    sign, logarithm = gt.linalg.slogdet(_matrix(input, "slogdet"))
    return LogMatrixDeterminant(wrap(sign), wrap(logarithm))


@in_tensorflow_terms
def logdet(matrix: Any, name: str | None = None) -> Any:
    """The logarithm of the determinant of a positive definite matrix."""
    return wrap(gt.linalg.slogdet(_matrix(matrix, "logdet"))[1])


@in_tensorflow_terms
def cholesky(input: Any, name: str | None = None) -> Any:
    """The lower triangular L with L L^T the matrix."""
    return wrap(gt.linalg.cholesky(_matrix(input, "cholesky")))


@in_tensorflow_terms
def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Any:
    """The solution of A X = rhs, given the Cholesky factor of A."""
    factor, right = tensors(chol, rhs, "cholesky_solve")
    return wrap(gt.linalg.cho_solve((factor, True), right))


@in_tensorflow_terms
def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """The solution X of matrix @ X = rhs.

    >>> from gradtape.standins import tensorflow as tf
    >>> tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy().tolist()
    [[1.0], [0.5]]
    """
    left, right = tensors(matrix, rhs, "solve")
    if right.ndim < 2:
        raise invalid(f"solve: rhs is a matrix; its shape is {right.shape}", "rhs[:, tf.newaxis]")
    return wrap(gt.linalg.solve(_turned(_matrix(wrap(left), "solve"), False, adjoint), right))


@in_tensorflow_terms
def triangular_solve(matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None) -> Any:
    """The solution of a triangular system."""
    left, right = tensors(matrix, rhs, "triangular_solve")
    return wrap(gt.linalg.solve_triangular(left, right, trans="C" if adjoint else 0, lower=lower))


@in_tensorflow_terms
def lstsq(matrix: Any, rhs: Any, l2_regularizer: float = 0.0, fast: bool = True, name: str | None = None) -> Any:
    """The solution of the least-squares problem."""
    left, right = tensors(matrix, rhs, "lstsq")
    turned = _turned(left, False, True)
    if l2_regularizer:
        square = turned @ left
        return wrap(
            gt.linalg.solve(square + np.eye(square.shape[-1], dtype=square.dtype) * l2_regularizer, turned @ right)
        )
    return wrap(gt.linalg.lstsq(left, right)[0])


@in_tensorflow_terms
def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Any:
    """Orthogonal times upper triangular."""
    q, r = gt.linalg.qr(_matrix(input, "qr", False), "complete" if full_matrices else "reduced")
    return Qr(wrap(q), wrap(r))


@in_tensorflow_terms
def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """Singular values, left and right singular vectors (as columns): s, u, v."""
    matrix = _matrix(tensor, "svd", False)
    if not compute_uv:
        return wrap(gt.linalg.svdvals(matrix))
    u, s, vh = gt.linalg.svd(matrix, full_matrices=full_matrices)
    return wrap(s), wrap(u), wrap(_turned(vh, False, True))


def _from_below(matrix: Any) -> Any:
    """The symmetric matrix of the lower triangle: only that is read, so only there is a gradient."""
    below = gt.tril(matrix, -1)
    return gt.tril(matrix) + gt.conjugate(gt.swapaxes(below, -1, -2))


@in_tensorflow_terms
def eigh(tensor: Any, name: str | None = None) -> Any:
    """Eigenvalues and eigenvectors of a self-adjoint matrix."""
    values, vectors = gt.linalg.eigh(_from_below(_matrix(tensor, "eigh")))
    return wrap(values), wrap(vectors)


@in_tensorflow_terms
def eigvalsh(tensor: Any, name: str | None = None) -> Any:
    """Eigenvalues of a self-adjoint matrix."""
    return wrap(gt.linalg.eigvalsh(_from_below(_matrix(tensor, "eigvalsh"))))


@in_tensorflow_terms
def eig(tensor: Any, name: str | None = None) -> Any:
    """Eigenvalues and eigenvectors, complex."""
    values, vectors = gt.linalg.eig(_matrix(tensor, "eig"))
    return tuple(wrap(_as_complex(part, value_of(tensor).dtype)) for part in (values, vectors))


@in_tensorflow_terms
def eigvals(tensor: Any, name: str | None = None) -> Any:
    """Eigenvalues, complex."""
    return wrap(_as_complex(gt.linalg.eigvals(_matrix(tensor, "eigvals")), value_of(tensor).dtype))


def _as_complex(value: Any, dtype: Any) -> Any:
    wanted = np.complex64 if dtype in (np.float32, np.complex64) else np.complex128
    return gt.astype(value, wanted)


def lu(input: Any, output_idx_type: Any = dtypes.int32, name: str | None = None) -> Any:
    """The lower and upper triangular factors in one matrix, and the permutation of the rows."""
    matrix = _matrix(input, "lu")
    rows, lower, upper = gt.linalg.lu(matrix, p_indices=True)
    order = np.asarray(rows if not isinstance(rows, gt.Tensor) else rows._concrete())
    packed = gt.tril(lower, -1) + upper
    # gradtape's rows say where each row of the product goes; TensorFlow's where each row comes from
    return Lu(wrap(packed), wrap(gt.Tensor(np.argsort(order, -1).astype(dtypes.numpy_of(output_idx_type)))))


@in_tensorflow_terms
def expm(input: Any, name: str | None = None) -> Any:
    """The exponential of a matrix."""
    return wrap(gt.linalg.expm(_matrix(input, "expm")))


@in_tensorflow_terms
def logm(input: Any, name: str | None = None) -> Any:
    """The logarithm of a matrix."""
    return wrap(gt.linalg.logm(_matrix(input, "logm")))


@in_tensorflow_terms
def sqrtm(input: Any, name: str | None = None) -> Any:
    """The square root of a matrix."""
    return wrap(gt.linalg.sqrtm(_matrix(input, "sqrtm")))


def matrix_rank(a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None) -> Any:
    """The rank of a matrix."""
    return wrap(gt.Tensor(np.asarray(np.linalg.matrix_rank(_matrix(a, "matrix_rank", False)._concrete()), np.int32)))


@in_tensorflow_terms
def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The norm of all elements, of vectors along an axis, or of matrices along two."""
    value, along = value_of(tensor), axes(axis)
    check_kind(value, _FLOAT, "norm")
    size = gt.absolute(value)
    if ord in ("euclidean", 2, "fro") and not (ord == 2 and isinstance(along, tuple)):
        return wrap(gt.sqrt(gt.sum(gt.square(size), along, keepdims=keepdims)))
    if isinstance(along, tuple) and len(along) == 2:
        return wrap(gt.linalg.matrix_norm(value, ord=ord, keepdims=keepdims))
    if ord == np.inf:
        return wrap(gt.max(size, along, keepdims=keepdims))
    if ord == 1:
        return wrap(gt.sum(size, along, keepdims=keepdims))
    return wrap(gt.power(gt.sum(gt.power(size, float(ord)), along, keepdims=keepdims), 1.0 / float(ord)))


@in_tensorflow_terms
def normalize(tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None) -> Any:
    """Divided by its norm; and the norm."""
    length = norm(tensor, ord, axis, True)
    return wrap(value_of(tensor) / value_of(length)), length


def global_norm(t_list: Any, name: str | None = None) -> Any:
    """The norm of all numbers in a list of tensors."""
    from gradtape.standins.tensorflow import elementwise

    return elementwise.global_norm(t_list)


__all__ = ["adjoint", "band_part", "cholesky", "cholesky_solve", "cross", "det", "diag", "diag_part", "eig", "eigh"]
__all__ += ["eigvals", "eigvalsh", "einsum", "expm", "eye", "global_norm", "inv", "l2_normalize", "logdet", "logm"]
__all__ += ["lstsq", "lu", "matmul", "matrix_rank", "matrix_transpose", "matvec", "norm", "normalize", "pinv", "qr"]
__all__ += ["set_diag", "slogdet", "solve", "sqrtm", "svd", "tensor_diag", "tensor_diag_part", "tensordot", "trace"]
__all__ += ["triangular_solve"]
__getattr__ = missing(__name__)
