"""How the functions of `gradtape.scipy.sparse.linalg` read their arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from gradtape.errors import ShapeError
from gradtape.extend import argument_error
from gradtape.mirror import Original
from gradtape.scipy.sparse.classes import as_dense, holds_ours
from gradtape.scipy.sparse.matrices import SparseTensor, as_sparse, is_sparse

F = TypeVar("F", bound=Callable[..., Any])

original = Original("scipy.sparse.linalg")


def differentiated(ours: F) -> F:
    """Decorate a function for tensors and sparse matrices of tensors; without them, SciPy's is called."""
    return original.differentiated_where(holds_ours)(ours)


def differentiated_where(is_ours: Callable[[Iterable[Any]], bool]) -> Callable[[F], F]:
    """The same with another condition."""
    return original.differentiated_where(is_ours)


def as_square(A: Any, name: str) -> SparseTensor:
    """A square sparse matrix; dense ones are taken too."""
    a = as_sparse(A) if is_sparse(A) else as_sparse(as_dense(A))
    if a.shape[0] != a.shape[1]:
        raise argument_error(ShapeError, f"{name}: A has shape {a.shape}.", "a square matrix")
    return a


def as_right_side(b: Any, rows: int, name: str) -> Any:
    """A right-hand side: a vector, or columns of them, in floating point numbers."""
    b = b.toarray() if is_sparse(b) else as_dense(b)
    if b.ndim not in (1, 2) or b.shape[0] != rows:
        raise argument_error(ShapeError, f"{name}: b of shape {b.shape}.", f"{rows} rows, as A has")
    return b.astype(np.float64) if b.dtype.kind in "iub" else b
