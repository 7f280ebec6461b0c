"""The operators of sparse matrices of tensors, and functions of their elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from gradtape.errors import OperandError, UnsupportedError
from gradtape.extend import argument_error, as_value
from gradtape.scipy.sparse.element_writes import Elements

ELEMENTWISE = (
    *("arcsin", "arcsinh", "arctan", "arctanh", "ceil", "deg2rad", "expm1", "floor", "log1p", "rad2deg", "rint"),
    *("sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
)
"""The functions of NumPy's that are zero at zero, which SciPy's matrices have as methods."""


class Arithmetic:
    """The operators, for a matrix with elements in a format."""

    format: str
    is_matrix: bool
    entries: Any
    pattern: Any
    _elements: Elements
    _like: Any
    _sorted: Any

    def dot(self, other: Any) -> Any:
        """The product with a dense or sparse matrix, or with a number."""
        return self * other if np.ndim(other) == 0 and not is_sparse(other) else self @ other

    def __matmul__(self, other: Any) -> Any:
        from gradtape.scipy.sparse.operators import matmul

        return matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        from gradtape.scipy.sparse.operators import matmul

        return matmul(other, self)

    def multiply(self, other: Any) -> Any:
        """The product of elements in the same places; sparse."""
        from gradtape.scipy.sparse.operators import multiply

        return multiply(self, other)

    def __mul__(self, other: Any) -> Any:
        if self.is_matrix and (is_sparse(other) or np.ndim(other)):
            return self @ other
        return self.multiply(other)

    def __rmul__(self, other: Any) -> Any:
        if self.is_matrix and (is_sparse(other) or np.ndim(other)):
            return other @ self
        return self.multiply(other)

    def __truediv__(self, other: Any) -> Any:
        if is_sparse(other):
            raise argument_error(
                UnsupportedError,
                "the quotient of two sparse matrices is 0 / 0 in most places.",
                "A.multiply(1 / B.toarray())",
            )
        return self.multiply(1 / as_value(other))

    def __neg__(self) -> Any:
        return self._like(-self.entries)

    def __imul__(self, other: Any) -> Any:
        if np.ndim(other) or is_sparse(other):
            return NotImplemented
        self._elements.holder.multiply(other)
        return self

    def __itruediv__(self, other: Any) -> Any:
        if np.ndim(other) or is_sparse(other):
            return NotImplemented
        self._elements.holder.multiply(1.0 / other)
        return self

    def __iadd__(self, other: Any) -> Any:
        if self.format != "lil":
            return NotImplemented
        whole = self + other
        if not is_sparse(whole):
            from gradtape.scipy.sparse.matrices import from_dense

            whole = from_dense(whole, "lil", self.is_matrix)
        self._elements.replace(whole.entries, whole.pattern, np.ones(whole.pattern.count, bool))
        return self

    def __isub__(self, other: Any) -> Any:
        return self.__iadd__(-other if is_sparse(other) else -as_value(other))

    def __abs__(self) -> Any:
        distinct = self._distinct()
        return distinct._like(np.abs(distinct.entries))

    def _distinct(self) -> Any:
        """The same with one value for each place."""
        values, pattern, marks = self._sorted(by_column=self.format == "csc")
        return self if pattern is self.pattern else self._like(values, pattern, droppable=marks)

    def power(self, n: Any, dtype: Any = None) -> Any:
        """The power of each element."""
        if not n > 0:
            raise argument_error(OperandError, f"power: n={n!r} makes the zeros infinite or one.", "a positive n")
        distinct = self._distinct()
        return distinct._like(distinct.entries**n)

    def __pow__(self, n: Any) -> Any:
        if not self.is_matrix:
            return self.power(n)
        from gradtape.scipy.sparse.operators import matrix_power

        return matrix_power(self, n)

    def __add__(self, other: Any) -> Any:
        from gradtape.scipy.sparse.operators import add

        return add(self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + (-other if is_sparse(other) else -as_value(other))

    def __rsub__(self, other: Any) -> Any:
        return -self + other


def _method(name: str) -> Any:
    function = getattr(np, name)

    def apply(self: Arithmetic) -> Any:
        distinct = self._distinct()
        return distinct._like(function(distinct.entries))

    apply.__name__, apply.__doc__ = name, f"`np.{name}` of each element; it is zero at zero."
    return apply


for _name in ELEMENTWISE:
    setattr(Arithmetic, _name, _method(_name))


def is_sparse(x: Any) -> bool:
    """Whether `x` is a sparse matrix, of SciPy's or of tensors."""
    return isinstance(x, Arithmetic) or scipy.sparse.issparse(x)
