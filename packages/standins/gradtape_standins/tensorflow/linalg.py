"""`tf.linalg`: products of matrices, decompositions, solutions, norms."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import concrete
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow import dtypes
from gradtape_standins.tensorflow.arrays import eye
from gradtape_standins.tensorflow.conversion import axes, dtype_name, integers, same_dtype, tensors, value_of
from gradtape_standins.tensorflow.errors import NotFoundError, explained, in_tensorflow_terms, invalid
from gradtape_standins.tensorflow.reductions import l2_normalize
from gradtape_standins.tensorflow.tensor import check_kind, wrap

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

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.matmul([[1.0, 2.0]], [[3.0], [4.0]]).numpy()
    array([[11.]], dtype=float32)
    """
    one, other = _operands(a, b, output_type)
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
    _check_product(one, "matmul")
    return wrap(gt.matmul(_turned(one, transpose_a, adjoint_a), _turned(other, transpose_b, adjoint_b)))


def _operands(a: Any, b: Any, output_type: Any) -> tuple[Any, Any]:
    """The operands of `matmul`, of one dtype: bytes are int32 where that is asked for."""
    if output_type is None:
        return tensors(a, b, "matmul")
    wanted, values = dtypes.numpy_of(output_type), (value_of(a), value_of(b))
    if wanted == np.int32 and all(value.dtype in _BYTES for value in values):
        return gt.astype(values[0], np.int32), gt.astype(values[1], np.int32)
    one, other = tensors(a, b, "matmul")
    if one.dtype != wanted:
        name = dtypes.as_dtype(wanted).name
        raise NotFoundError(
            None,
            None,
            explained(
                f"matmul: output_type={name} of operands of dtype {dtype_name(one)}; TensorFlow has products of int8 "
                "and uint8 as int32, and all others in their own dtype",
                f"tf.cast(a, tf.{name}) and tf.cast(b, tf.{name})",
            ),
        )
    return one, other


_BYTES = (np.dtype(np.int8), np.dtype(np.uint8))
_SHORT = (*_BYTES, np.dtype(np.int16), np.dtype(np.uint16))


def _check_product(value: Any, what: str) -> None:
    """Raise if there are no sums of products of that dtype: those of short integers would overflow."""
    check_kind(value, "fciu", what)
    if value.dtype in _SHORT:
        fix = "output_type=tf.int32" if what == "matmul" and value.dtype in _BYTES else "tf.cast(..., tf.int32)"
        raise invalid(f"{what}: a product of {dtype_name(value)} would overflow, and TensorFlow has none", fix)


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
    _check_product(one, "matvec")
    return wrap(gt.squeeze(gt.matmul(_turned(one, transpose_a, adjoint_a), gt.expand_dims(other, -1)), -1))


@in_tensorflow_terms
def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Any:
    """Summed over pairs of axes."""
    one, other = tensors(a, b, "tensordot")
    _check_product(one, "tensordot")
    chosen = integers(axes)
    return wrap(gt.tensordot(one, other, tuple(chosen) if isinstance(chosen, list) else chosen))


@in_tensorflow_terms
def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Any:
    """Einstein's summation.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.einsum("i,i->", [1.0, 2.0], [3.0, 4.0]).numpy()
    np.float32(11.0)
    """
    values = same_dtype(inputs, "einsum")
    _check_product(values[0], "einsum")
    return wrap(gt.einsum(equation, *values))


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
def diag(
    diagonal: Any,
    name: str = "diag",
    k: Any = 0,
    num_rows: Any = -1,
    num_cols: Any = -1,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Any:
    """A matrix with the last axis of `diagonal` on its diagonal `k`, and `padding_value` elsewhere."""
    value, shift = value_of(diagonal), _one_diagonal(k, "diag")
    length = value.shape[-1]
    least = (length + max(-shift, 0), length + max(shift, 0))
    asked = (integers(num_rows), integers(num_cols))
    sizes = tuple(low if size == -1 else size for size, low in zip(asked, least))
    if asked == (-1, -1):
        sizes = (max(least), max(least))
    elif sizes[0] < least[0] or sizes[1] < least[1] or (sizes[0] > least[0] and sizes[1] > least[1]):
        raise invalid(
            f"diag: num_rows={asked[0]} and num_cols={asked[1]} make no matrix whose diagonal {shift} has {length} "
            "elements",
            f"num_rows={least[0]}, num_cols={least[1]}",
        )
    rest = np.full((*value.shape[:-1], *sizes), concrete(value_of(padding_value)), value.dtype)
    rows = np.arange(length) + max(-shift, 0)
    return wrap(gt.at(gt.Tensor(rest))[..., rows, rows + shift].set(value))


def _one_diagonal(k: Any, what: str) -> int:
    found = integers(k)
    if isinstance(found, list) and len(set(found)) == 1:
        found = found[0]
    if not isinstance(found, int):
        raise NotImplementedError(
            explained(f"{what}: k={found} names a band of diagonals; this stand-in has one at a time", "k=1, and k=-1")
        )
    return found


@in_tensorflow_terms
def diag_part(
    input: Any, name: str = "diag_part", k: Any = 0, padding_value: Any = 0, align: str = "RIGHT_LEFT"
) -> Any:
    """The diagonal `k` of the last two axes; what there is to pad or align only bands of diagonals have."""
    return wrap(gt.diagonal(value_of(input), _one_diagonal(k, "diag_part"), -2, -1))


@in_tensorflow_terms
def tensor_diag(diagonal: Any, name: str | None = None) -> Any:
    """A tensor of twice as many axes with `diagonal` on its diagonal."""
    value = value_of(diagonal)
    return wrap(gt.reshape(value_of(diag(wrap(gt.ravel(value)))), (*value.shape, *value.shape)))


@in_tensorflow_terms
def tensor_diag_part(input: Any, name: str | None = None) -> Any:
    """The diagonal of a tensor whose shape is the same one twice."""
    value = value_of(input)
    half = value.shape[: value.ndim // 2]
    if value.ndim % 2 or value.shape != half * 2 or not half:
        raise invalid(f"tensor_diag_part: a shape that is the same one twice is wanted; this is {value.shape}")
    side = int(np.prod(half))
    return wrap(gt.reshape(gt.diagonal(gt.reshape(value, (side, side))), half))


@in_tensorflow_terms
def set_diag(input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0, align: str = "RIGHT_LEFT") -> Any:
    """The matrix with another diagonal."""
    matrix, new = tensors(input, diagonal, "set_diag")
    shift = _one_diagonal(k, "set_diag")
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

    >>> from gradtape_standins import tensorflow as tf
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
    order = np.asarray(rows if not isinstance(rows, gt.Tensor) else concrete(rows))
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
    matrix, least = concrete(_matrix(a, "matrix_rank", False)), None if tol is None else concrete(value_of(tol))
    return wrap(gt.Tensor(np.asarray(np.linalg.matrix_rank(matrix, least), np.int32)))


@in_tensorflow_terms
def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The norm of all elements, of vectors along an axis, or of matrices along two."""
    value, along = value_of(tensor), axes(axis)
    check_kind(value, _FLOAT, "norm")
    size = gt.absolute(value)
    if ord in ("euclidean", 2, "fro") and not (ord == 2 and isinstance(along, tuple)):
        return wrap(gt.astype(gt.sqrt(gt.sum(gt.square(size), along, keepdims=keepdims)), value.dtype))
    if isinstance(along, tuple) and len(along) == 2:
        return wrap(gt.linalg.norm(value, ord=ord, axis=along, keepdims=keepdims))
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
    from gradtape_standins.tensorflow import elementwise

    return elementwise.global_norm(t_list)


__all__ = ["adjoint", "band_part", "cholesky", "cholesky_solve", "cross", "det", "diag", "diag_part", "eig", "eigh"]
__all__ += ["eigvals", "eigvalsh", "einsum", "expm", "eye", "global_norm", "inv", "l2_normalize", "logdet", "logm"]
__all__ += ["lstsq", "lu", "matmul", "matrix_rank", "matrix_transpose", "matvec", "norm", "normalize", "pinv", "qr"]
__all__ += ["set_diag", "slogdet", "solve", "sqrtm", "svd", "tensor_diag", "tensor_diag_part", "tensordot", "trace"]
__all__ += ["triangular_solve"]
__getattr__ = missing(__name__)
