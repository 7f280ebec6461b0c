"""Operators between sparse matrices, of SciPy's and of tensors, and tensors."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import scipy.sparse

from gradtape.errors import OperandError, ShapeError
from gradtape.extend import argument_error, as_value
from gradtape.ops.sparse_products import Pattern, sparse_matmul
from gradtape.scipy.sparse.matrices import SparseTensor, as_sparse, is_sparse


def operate_with_tensor(operation: str, left: Any, right: Any) -> Any:
    """The result of an operator of which one operand is a tensor and the other a sparse matrix of SciPy's."""
    is_matrix = isinstance(left, scipy.sparse.spmatrix) or isinstance(right, scipy.sparse.spmatrix)
    dense = right if is_sparse(left) else left
    if operation == "matmul" or (operation == "multiply" and is_matrix and np.ndim(dense)):
        return matmul(left, right)
    if operation == "multiply":
        return multiply(left, right) if is_sparse(left) else multiply(right, left)
    if operation == "divide" and is_sparse(left):
        return as_sparse(left).multiply(1 / right)
    if operation in ("add", "subtract"):
        if not np.ndim(dense):
            raise argument_error(
                OperandError,
                f"{operation}: a number and a sparse matrix; the result would be dense.",
                "A.toarray() first",
            )
        left, right = (x.toarray() if is_sparse(x) else x for x in (left, right))
        return getattr(np, operation)(left, right)
    return NotImplemented


def matmul(left: Any, right: Any) -> Any:
    """The product of two matrices of which at least one is sparse; with a dense one it is dense."""
    if is_sparse(left) and is_sparse(right):
        return _sparse_product(as_sparse(left), as_sparse(right))
    if is_sparse(left):
        x = as_value(right)
        if x.ndim not in (1, 2) or x.shape[0] != left.shape[1]:
            raise _mismatch(left.shape, x.shape)
        sparse = as_sparse(left)
        product = sparse_matmul(sparse.entries, x[:, None] if x.ndim == 1 else x, pattern=sparse.pattern)
        return product[:, 0] if x.ndim == 1 else product
    x = as_value(left)
    if x.ndim not in (1, 2) or x.shape[-1] != right.shape[0]:
        raise _mismatch(x.shape, right.shape)
    sparse = as_sparse(right)
    columns = x[:, None] if x.ndim == 1 else np.swapaxes(x, 0, 1)
    product = sparse_matmul(sparse.entries, columns, pattern=sparse.pattern.transposed)
    return product[:, 0] if x.ndim == 1 else np.swapaxes(product, 0, 1)


def _mismatch(left: Any, right: Any) -> Exception:
    return argument_error(
        ShapeError, f"matmul: dimension mismatch of shapes {left} and {right}.", "as many columns on the left as rows"
    )


def _sparse_product(a: SparseTensor, b: SparseTensor) -> SparseTensor:
    """a @ b: each value of `a` in column k meets those of `b` in row k."""
    if a.shape[1] != b.shape[0]:
        raise _mismatch(a.shape, b.shape)
    by_row = np.argsort(b.pattern.rows, kind="stable")
    starts = np.searchsorted(b.pattern.rows[by_row], np.arange(b.shape[0] + 1))
    first = starts[a.pattern.columns]
    counts = starts[a.pattern.columns + 1] - first
    mine = np.repeat(np.arange(a.pattern.count), counts)
    within = np.arange(len(mine)) - np.repeat(np.cumsum(counts) - counts, counts)
    theirs = by_row[np.repeat(first, counts) + within]
    shape = (a.shape[0], b.shape[1])
    pattern = Pattern(a.pattern.rows[mine], b.pattern.columns[theirs], shape)
    format = a.format if a.format in ("csr", "csc") else "csr"
    is_matrix = a.is_matrix and b.is_matrix
    values = as_value(a.entries)[mine] * as_value(b.entries)[theirs]
    return SparseTensor(values, pattern, "coo", is_matrix, droppable=np.ones(len(mine), bool)).asformat(format)


def multiply(sparse: Any, other: Any) -> SparseTensor:
    """The products of elements in the same places; `other` is broadcast to the shape of the sparse matrix."""
    mine = as_sparse(sparse)
    if is_sparse(other):
        return _product_in_place(mine, as_sparse(other))
    x = as_value(other)
    if x.ndim == 0 or x.shape == (1,) or x.shape == (1, 1):
        return mine._like(as_value(mine.entries) * x.reshape(()))
    if x.ndim == 1:
        x = x[None, :]
    rows, columns = mine.pattern.rows, mine.pattern.columns
    try:
        np.broadcast_to(np.empty(x.shape, bool), mine.shape)
    except ValueError:
        raise argument_error(
            ShapeError, f"multiply: shapes {mine.shape} and {x.shape} are inconsistent.", "one that is broadcast to it"
        ) from None
    factors = x[rows if x.shape[0] > 1 else np.zeros_like(rows), columns if x.shape[1] > 1 else np.zeros_like(columns)]
    return mine._like(as_value(mine.entries) * factors)


def _product_in_place(a: SparseTensor, b: SparseTensor) -> SparseTensor:
    if a.shape != b.shape:
        raise argument_error(ShapeError, f"multiply: shapes {a.shape} and {b.shape}.", "one shape")
    a, b = a._distinct().asformat("csr")._distinct(), b._distinct().asformat("csr")._distinct()
    keys = [x.pattern.rows * a.shape[1] + x.pattern.columns for x in (a, b)]
    common, mine, theirs = np.intersect1d(keys[0], keys[1], assume_unique=True, return_indices=True)
    pattern = Pattern(common // max(a.shape[1], 1), common % max(a.shape[1], 1), a.shape)
    values = as_value(a.entries)[mine] * as_value(b.entries)[theirs]
    return SparseTensor(values, pattern, "csr", a.is_matrix, droppable=np.ones(len(mine), bool))


def add(sparse: Any, other: Any) -> Any:
    """The sum: sparse with a sparse matrix, dense with a dense one."""
    if not is_sparse(other):
        x = as_value(other)
        if not x.ndim and np.any(np.asarray(x if not hasattr(x, "numpy") else x.numpy()) != 0):
            raise argument_error(
                OperandError, "adding a number that is not zero to a sparse matrix makes it dense.", "A.toarray() first"
            )
        return sparse.copy() if not x.ndim else sparse.toarray() + x
    right = as_sparse(other)
    if sparse.shape != right.shape:
        raise argument_error(ShapeError, f"add: shapes {sparse.shape} and {right.shape}.", "one shape")
    rows, columns = (np.concatenate(pair) for pair in zip(sparse._places, right._places, strict=True))
    values = np.concatenate([as_value(sparse.entries), as_value(right.entries)])
    pattern, marks = Pattern(rows, columns, sparse.shape), np.ones(len(rows), bool)
    whole = SparseTensor(values, pattern, "coo", sparse.is_matrix, droppable=marks)
    return whole.asformat("csc" if sparse.format == "csc" else "csr")


def matrix_power(a: Any, n: Any) -> Any:
    """`a` multiplied with itself n times."""
    n = operator.index(n)
    if n < 0 or a.shape[0] != a.shape[1]:
        raise argument_error(OperandError, f"the power {n} of a matrix of shape {a.shape}.", "a square one, n >= 0")
    if n == 0:
        return scipy.sparse.eye_array(a.shape[0], dtype=a.dtype, format="csr")
    result = a.copy() if n == 1 else a
    for _ in range(n - 1):
        result = result @ a
    return result
