"""Functions that make sparse matrices: diagonals, Kronecker products, blocks, triangles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import scipy.sparse

from gradtape.errors import OperandError, ShapeError
from gradtape.extend import argument_error, as_value
from gradtape.mirror import Original
from gradtape.ops.sparse_products import Pattern
from gradtape.scipy.sparse.classes import as_dense, holds_ours, made_of
from gradtape.scipy.sparse.matrices import SparseTensor, as_sparse, is_sparse

F = TypeVar("F", bound=Callable[..., Any])

original = Original("scipy.sparse")

__all__ = [
    *("block_array", "block_diag", "bmat", "diags", "diags_array", "find", "hstack", "issparse", "isspmatrix", "kron"),
    *("kronsum", "matrix_transpose", "spdiags", "tril", "triu", "vstack"),
    *(f"isspmatrix_{format}" for format in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")),
]


def differentiated(ours: F) -> F:
    """Decorate a function for tensors and sparse matrices of tensors; without them, SciPy's is called."""
    return original.differentiated_where(holds_ours)(ours)


_NOT_GIVEN = object()


def _diagonal_matrix(diagonals: Any, offsets: Any, shape: Any, format: Any, dtype: Any, is_matrix: bool) -> Any:
    if np.ndim(offsets) == 0:
        single = as_dense(diagonals)
        if single.ndim == 2 and single.shape[0] != 1:
            raise argument_error(OperandError, "diags: one offset for several diagonals.", "as many offsets")
        lines, places = [single.reshape((-1,))], [int(offsets)]
    else:
        lines, places = [as_dense(line) for line in diagonals], [int(offset) for offset in offsets]
    if len(lines) != len(places):
        raise argument_error(
            OperandError, f"diags: {len(lines)} diagonals with {len(places)} offsets.", "one offset for each diagonal"
        )
    lines = [line.reshape((-1,)) for line in lines]
    if shape is None:
        length = lines[0].shape[0] + abs(places[0])
        shape = (length, length)
    m, n = (int(number) for number in shape)
    values, rows, columns = [], [], []
    for line, offset in zip(lines, places, strict=True):
        length = max(min(m + min(offset, 0), n - max(offset, 0)), 0)
        if line.shape[0] not in (length, 1):
            raise argument_error(
                ShapeError,
                f"diags: the diagonal with offset {offset} has {line.shape[0]} values for {length} places.",
                f"{length} values, or one for all of them",
            )
        values.append(np.broadcast_to(line, (length,)) if line.shape[0] == 1 else line)
        rows.append(np.arange(length) - min(offset, 0))
        columns.append(np.arange(length) + max(offset, 0))
    pattern = Pattern(np.concatenate(rows), np.concatenate(columns), (m, n))
    made = SparseTensor(np.concatenate(values), pattern, "dia", is_matrix)
    if format in (None, "dia"):
        widths = [min(m + offset, n - offset) + max(0, offset) for offset in places]
        made._diagonals(np.array(places, np.int32), max(0, *widths))
    made = made.asformat(format)
    return made if dtype is None or dtype is _NOT_GIVEN else made.astype(dtype)


@differentiated
def diags(diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = _NOT_GIVEN) -> Any:
    """The sparse matrix with these diagonals, as `scipy.sparse.diags`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import sparse
    >>> sparse.diags(gt.tensor([2.0, 3.0])) @ [1.0, 1.0]
    Tensor([2., 3.])
    """
    return _diagonal_matrix(diagonals, offsets, shape, format, dtype, True)


@differentiated
def diags_array(
    diagonals: Any, /, *, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = _NOT_GIVEN
) -> Any:
    """The sparse array with these diagonals, as `scipy.sparse.diags_array`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import sparse
    >>> sparse.diags_array([gt.tensor([1.0]), [2.0, 3.0]], offsets=[1, 0]).toarray()
    Tensor([[2., 1.],
            [0., 3.]])
    """
    return _diagonal_matrix(diagonals, offsets, shape, format, dtype, False)


@differentiated
def spdiags(data: Any, diags: Any, m: Any = None, n: Any = None, format: Any = None) -> Any:
    """The sparse matrix with the rows of `data` as diagonals, by their columns, as `scipy.sparse.spdiags`."""
    if m is None:
        m, n = as_dense(data).shape[-1:] * 2
    elif n is None:
        m, n = m
    return made_of("dia", True, (data, np.atleast_1d(diags)), (m, n)).asformat(format)


@differentiated
def kron(A: Any, B: Any, format: Any = None) -> Any:
    """The Kronecker product, as `scipy.sparse.kron`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import sparse
    >>> sparse.kron(gt.tensor([[1.0, 2.0]]), [[3.0], [4.0]]).toarray()
    Tensor([[3., 6.],
            [4., 8.]])
    """
    a, b = _sparse(A), _sparse(B)
    rows = (a.pattern.rows[:, None] * b.shape[0] + b.pattern.rows).reshape(-1)
    columns = (a.pattern.columns[:, None] * b.shape[1] + b.pattern.columns).reshape(-1)
    shape = (a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])
    values = (as_value(a.entries)[:, None] * as_value(b.entries)).reshape((-1,))
    marks = None
    if a._marks is not None or b._marks is not None:
        marks = (_all_marks(a)[:, None] | _all_marks(b)).reshape(-1)
    made = SparseTensor(values, Pattern(rows, columns, shape), "coo", not _has_array(A, B), droppable=marks)
    return made.asformat(format or "coo")


def _all_marks(x: SparseTensor) -> Any:
    """For each value, whether it is stored only if it is not zero."""
    return np.zeros(x.pattern.count, bool) if x._marks is None else x._marks


def _sparse(x: Any) -> SparseTensor:
    return as_sparse(x) if is_sparse(x) else as_sparse(as_dense(x))


def _has_array(*values: Any) -> bool:
    """Whether there is a sparse array among values, which makes the result one; else it is a sparse matrix."""
    return any(
        not x.is_matrix if isinstance(x, SparseTensor) else isinstance(x, scipy.sparse.sparray)
        for x in values
        if is_sparse(x)
    )


@differentiated
def kronsum(A: Any, B: Any, format: Any = None) -> Any:
    """The Kronecker sum of two square matrices, as `scipy.sparse.kronsum`."""
    a, b = _sparse(A), _sparse(B)
    if a.shape[0] != a.shape[1] or b.shape[0] != b.shape[1]:
        raise argument_error(ShapeError, f"kronsum: shapes {a.shape} and {b.shape}.", "square matrices")
    eye = scipy.sparse.eye_array if _has_array(A, B) else scipy.sparse.eye
    left, right = kron(eye(b.shape[0]), a, format="csr"), kron(b, eye(a.shape[0]), format="csr")
    return (left + right).asformat(format)


def _joined(blocks: Any, format: Any, dtype: Any, is_matrix: bool) -> Any:
    """The matrix of a table of blocks, of which some may be None."""
    table = [[None if block is None else _sparse(block) for block in row] for row in blocks]
    heights = [next((block.shape[0] for block in row if block is not None), None) for row in table]
    columns_of = list(zip(*table, strict=True)) if len({len(row) for row in table}) == 1 else None
    if columns_of is None:
        raise argument_error(ShapeError, "rows of different numbers of blocks.", "None for blocks that are missing")
    widths = [next((block.shape[1] for block in column if block is not None), None) for column in columns_of]
    if None in heights or None in widths:
        raise argument_error(ShapeError, "a row or a column of blocks that are all None.", "at least one block in each")
    tops, lefts = np.cumsum([0, *heights]), np.cumsum([0, *widths])
    values, rows, columns, marks = [], [], [], []
    for i, row in enumerate(table):
        for j, block in enumerate(row):
            if block is None:
                continue
            if block.shape != (heights[i], widths[j]):
                raise argument_error(
                    ShapeError,
                    f"block ({i}, {j}) has shape {block.shape}.",
                    f"{(heights[i], widths[j])}, as the other blocks of its row and column ask for",
                )
            values.append(as_value(block.entries))
            marks.append(_all_marks(block))
            rows.append(block.pattern.rows + tops[i])
            columns.append(block.pattern.columns + lefts[j])
    pattern = Pattern(np.concatenate(rows), np.concatenate(columns), (int(tops[-1]), int(lefts[-1])))
    whole = SparseTensor(np.concatenate(values), pattern, "coo", is_matrix, droppable=np.concatenate(marks))
    made = whole.asformat(format or "coo")
    return made if dtype is None else made.astype(dtype)


def _flat(blocks: Any) -> list[Any]:
    return [block for row in blocks for block in row]


@differentiated
def block_array(blocks: Any, *, format: Any = None, dtype: Any = None) -> Any:
    """The sparse array made of a table of blocks, as `scipy.sparse.block_array`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import sparse
    >>> sparse.block_array([[gt.tensor([[1.0]]), None], [None, [[2.0]]]]).toarray()
    Tensor([[1., 0.],
            [0., 2.]])
    """
    return _joined(blocks, format, dtype, False)


@differentiated
def bmat(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    """The sparse matrix made of a table of blocks, as `scipy.sparse.bmat`."""
    return _joined(blocks, format, dtype, not _has_array(*_flat(blocks)))


@differentiated
def hstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    """Sparse matrices side by side, as `scipy.sparse.hstack`."""
    return _joined([list(blocks)], format, dtype, not _has_array(*blocks))


@differentiated
def vstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    """Sparse matrices one above the other, as `scipy.sparse.vstack`."""
    return _joined([[block] for block in blocks], format, dtype, not _has_array(*blocks))


@differentiated
def block_diag(mats: Any, format: Any = None, dtype: Any = None) -> Any:
    """The sparse matrix with these along its diagonal, as `scipy.sparse.block_diag`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import sparse
    >>> sparse.block_diag([gt.tensor([[1.0]]), [[2.0]]]).toarray()
    Tensor([[1., 0.],
            [0., 2.]])
    """
    mats = [mat if is_sparse(mat) else as_dense(mat) for mat in mats]
    mats = [mat if is_sparse(mat) or mat.ndim == 2 else mat.reshape((1, -1)) for mat in mats]
    table = [[mat if i == j else None for j in range(len(mats))] for i, mat in enumerate(mats)]
    return _joined(table, format, dtype, not _has_array(*mats))


def _triangle(A: Any, keep: Callable[[Any, Any], Any], format: Any) -> Any:
    a = _sparse(A)
    rows, columns = a._places
    chosen = np.flatnonzero(keep(rows, columns))
    pattern, marks = Pattern(rows[chosen], columns[chosen], a.shape), _all_marks(a)[chosen]
    part = SparseTensor(a.entries[chosen], pattern, "coo", not _has_array(A), droppable=marks)
    return part.asformat(format or "coo")


@differentiated
def tril(A: Any, k: int = 0, format: Any = None) -> Any:
    """The lower triangle, as `scipy.sparse.tril`."""
    return _triangle(A, lambda rows, columns: columns - rows <= k, format)


@differentiated
def triu(A: Any, k: int = 0, format: Any = None) -> Any:
    """The upper triangle, as `scipy.sparse.triu`."""
    return _triangle(A, lambda rows, columns: columns - rows >= k, format)


@differentiated
def matrix_transpose(A: Any) -> Any:
    """The transpose, as `scipy.sparse.matrix_transpose` of SciPy 1.18.

    >>> import gradtape as gt
    >>> from gradtape.scipy import sparse
    >>> sparse.matrix_transpose(sparse.coo_array(gt.tensor([[1.0, 2.0]]))).toarray()
    Tensor([[1.],
            [2.]])
    """
    return _sparse(A).T


@differentiated
def find(A: Any) -> tuple[Any, Any, Any]:
    """The rows, the columns and the values that are not zero, as `scipy.sparse.find`."""
    a = _sparse(A).tocoo(copy=True)
    a.sum_duplicates()
    a.eliminate_zeros()
    return a.row, a.col, a.data


@differentiated
def issparse(x: Any) -> bool:
    """Whether x is a sparse matrix, as `scipy.sparse.issparse`."""
    return isinstance(x, SparseTensor)


@differentiated
def isspmatrix(x: Any) -> bool:
    """Whether x is a sparse matrix and no sparse array, as `scipy.sparse.isspmatrix`."""
    return isinstance(x, SparseTensor) and x.is_matrix


def _is_format(format: str) -> Any:
    def ask(x: Any) -> bool:
        return isinstance(x, SparseTensor) and x.is_matrix and x.format == format

    ask.__name__ = ask.__qualname__ = f"isspmatrix_{format}"
    ask.__doc__ = f"Whether x is a sparse matrix in the format {format}, as `scipy.sparse.isspmatrix_{format}`."
    return differentiated(ask)


isspmatrix_bsr, isspmatrix_coo, isspmatrix_csc, isspmatrix_csr = map(_is_format, ("bsr", "coo", "csc", "csr"))
isspmatrix_dia, isspmatrix_dok, isspmatrix_lil = map(_is_format, ("dia", "dok", "lil"))
