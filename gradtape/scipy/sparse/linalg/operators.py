"""Linear operators given by functions, whose products take tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import OperandError, ShapeError, UnsupportedError
from gradtape.extend import Tensor, argument_error, is_recorded, may_record
from gradtape.scipy.sparse.linalg.arguments import original
from gradtape.scipy.sparse.matrices import SparseTensor, is_sparse

_theirs: Any = original.contents.LinearOperator
_Custom: Any = type(_theirs((1, 1), matvec=lambda x: x, dtype=float))
"""The class of SciPy's operators that are given by functions."""

__all__ = ["LinearOperator", "aslinearoperator"]


class _Products:
    """The products with tensors: the functions are called with tensors, and what they compute is recorded."""

    shape: tuple[int, int]

    def _multiplied(self, x: Any, name: str, length: int) -> Any:
        if x.shape not in ((length,), (length, 1)):
            raise argument_error(ShapeError, f"{name}: a tensor of shape {x.shape}.", f"{length} elements")
        rows = self.shape[1] if name == "rmatvec" else self.shape[0]
        y = getattr(self, f"_{name}")(x)
        return y.reshape((rows, 1) if x.ndim == 2 else (rows,))

    def _product(self, x: Any, name: str) -> Any:
        length = self.shape[0] if name == "rmatvec" else self.shape[1]
        if isinstance(x, Tensor):
            return self._multiplied(x, name, length)
        if may_record() and np.shape(x) in ((length,), (length, 1)):
            x = np.asarray(x)
            y = getattr(self, f"_{name}")(x)
            if isinstance(y, Tensor):
                rows = self.shape[1] if name == "rmatvec" else self.shape[0]
                return y.reshape((rows, 1) if x.ndim == 2 else (rows,))
        return getattr(super(), name)(x)

    def matvec(self, x: Any) -> Any:
        """The product with a vector."""
        return self._product(x, "matvec")

    def rmatvec(self, x: Any) -> Any:
        """The product of the adjoint with a vector."""
        return self._product(x, "rmatvec")

    def matmat(self, X: Any) -> Any:
        """The product with a matrix, column by column."""
        if isinstance(X, Tensor):
            return np.stack([self.matvec(X[:, j]) for j in range(X.shape[1])], axis=1)
        return super().matmat(X)  # type: ignore[misc]

    def rmatmat(self, X: Any) -> Any:
        """The product of the adjoint with a matrix, column by column."""
        if isinstance(X, Tensor):
            return np.stack([self.rmatvec(X[:, j]) for j in range(X.shape[1])], axis=1)
        return super().rmatmat(X)  # type: ignore[misc]

    def dot(self, x: Any) -> Any:
        """The product with a vector, a matrix, a number or another operator."""
        if isinstance(x, Tensor) and x.ndim in (1, 2):
            return self.matvec(x) if x.ndim == 1 else self.matmat(x)
        return super().dot(x)  # type: ignore[misc]

    def _adjoint(self) -> Any:
        m, n = self.shape
        return LinearOperator((n, m), matvec=self.rmatvec, rmatvec=self.matvec, dtype=self.dtype)  # type: ignore[attr-defined]

    def require_constant(self, function: str) -> None:
        """Raise if the products depend on tensors whose gradient is recorded."""
        y = self._matvec(np.zeros(self.shape[1]))  # type: ignore[attr-defined]
        if isinstance(y, Tensor) and is_recorded(y):
            raise argument_error(
                UnsupportedError,
                f"{function}: the products of the linear operator depend on tensors whose gradient is recorded, which "
                f"{function} cannot follow into the function.",
                "a sparse matrix with these tensors for values, as in sparse.csr_array((data, indices, indptr))",
            )


class LinearOperator(_Products, _theirs):  # type: ignore[misc]
    """A linear operator given by functions, as `scipy.sparse.linalg.LinearOperator`; its products take tensors.

    >>> import gradtape as gt
    >>> from gradtape.scipy import sparse
    >>> twice = sparse.linalg.LinearOperator((2, 2), matvec=lambda x: 2.0 * x, dtype=float)
    >>> twice @ gt.tensor([1.0, 2.0])
    Tensor([2., 4.])
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is LinearOperator:
            return object.__new__(_TensorOperator)
        return super().__new__(cls)


class _TensorOperator(LinearOperator, _Custom):  # type: ignore[misc]
    """An operator given by functions."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _Custom.__init__(self, *args, **kwargs)

    _adjoint = _Products._adjoint


def aslinearoperator(A: Any) -> Any:
    """A matrix as a linear operator, as `scipy.sparse.linalg.aslinearoperator`; its products take tensors.

    >>> import gradtape as gt
    >>> from gradtape.scipy import sparse
    >>> sparse.linalg.aslinearoperator(sparse.diags([2.0, 3.0])) @ gt.tensor([1.0, 1.0])
    Tensor([2., 3.])
    """
    if isinstance(A, _theirs):
        return A
    if not isinstance(A, (SparseTensor, Tensor, np.ndarray)) and not is_sparse(A):
        return original.contents.aslinearoperator(A)
    if len(A.shape) != 2:
        raise argument_error(OperandError, f"aslinearoperator: shape {A.shape}.", "a matrix")
    return LinearOperator(
        A.shape, matvec=lambda x: A @ x, rmatvec=lambda x: A.T.conj() @ x, matmat=lambda X: A @ X, dtype=A.dtype
    )


original.functions["aslinearoperator"] = aslinearoperator
