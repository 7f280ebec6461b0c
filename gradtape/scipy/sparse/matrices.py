"""Sparse matrices whose values are tensors."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import scipy.sparse

from gradtape.errors import OperandError, ShapeError, UnsupportedError
from gradtape.extend import Tensor, argument_error, as_value, is_followed, messages, plain
from gradtape.ops.sparse_products import Pattern, pattern_of, sparse_matmul
from gradtape.scipy.sparse.element_writes import Elements

FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")

ELEMENTWISE = (
    *("arcsin", "arcsinh", "arctan", "arctanh", "ceil", "deg2rad", "expm1", "floor", "log1p", "rad2deg", "rint"),
    *("sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
)
"""The functions of NumPy's that are zero at zero, which SciPy's matrices have as methods."""


class SparseTensor:
    """A sparse matrix with tensors for values, with the methods that SciPy's have.

    `format` and `is_matrix` say which class of SciPy's it stands for: `csr_array`, `dia_matrix` and so on.

    >>> import gradtape as gt
    >>> from gradtape.scipy import sparse
    >>> a = sparse.coo_array((gt.tensor([1.0, 2.0]), ([0, 1], [1, 0])), shape=(2, 2))
    >>> a @ [3.0, 4.0]
    Tensor([4., 6.])
    """

    __array_ufunc__ = None  # NumPy's operators leave the operation to this class
    ndim = 2

    def __init__(
        self, values: Any, pattern: Pattern, format: str, is_matrix: bool, blocksize: tuple[int, int] = (1, 1)
    ) -> None:
        self._elements = Elements(values, pattern)
        self.format = format
        self.is_matrix = is_matrix
        self.blocksize = blocksize

    # -- what it is

    @property
    def values(self) -> Any:
        return self._elements.values

    @property
    def pattern(self) -> Pattern:
        return self._elements.pattern

    @property
    def shape(self) -> tuple[int, int]:
        return self._elements.shape

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    @property
    def nnz(self) -> int:
        return self.pattern.count

    @property
    def size(self) -> int:
        return self.nnz

    def getnnz(self, axis: int | None = None) -> Any:
        """How many values there are, in all or for each column or row."""
        if axis is None:
            return self.nnz
        along = 0 if axis in (1, -1) else 1
        return np.bincount(self.coords[along], minlength=self.shape[along])

    def __len__(self) -> int:
        raise TypeError("sparse array length is ambiguous; use getnnz() or shape[0]")

    def __bool__(self) -> bool:
        raise ValueError("The truth value of an array with more than one element is ambiguous")

    def __repr__(self) -> str:
        kind = "matrix" if self.is_matrix else "array"
        return f"<{self.format}_{kind} of tensors: dtype {self.dtype}, {self.nnz} stored values, shape {self.shape}>"

    def __getattr__(self, name: str) -> Any:
        """What SciPy's matrices have beside, as long as no tensor has been written to it."""
        kind = "matrix" if self.is_matrix else "array"
        theirs = getattr(scipy.sparse, f"{self.format}_{kind}")
        if name.startswith("_") or not hasattr(theirs, name):
            raise AttributeError(f"'{self.format}_{kind}' object has no attribute {name!r}")
        if isinstance(self.values, Tensor):
            raise messages.sparse_matrix_detached(self.shape)
        return getattr(theirs(scipy.sparse.coo_array((self.values, self.coords), shape=self.shape)), name)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise messages.sparse_matrix_detached(self.shape)

    # -- the parts of the formats

    @property
    def coords(self) -> tuple[Any, Any]:
        return self.pattern.rows, self.pattern.columns

    @property
    def row(self) -> Any:
        self._require("coo")
        return self.pattern.rows.astype(np.int32)

    @property
    def col(self) -> Any:
        self._require("coo")
        return self.pattern.columns.astype(np.int32)

    def _require(self, *formats: str) -> None:
        if self.format not in formats:
            raise AttributeError(f"a sparse matrix in the format {self.format!r} has no such part; only {formats} have")

    @property
    def indices(self) -> Any:
        self._require("csr", "csc", "bsr")
        if self.format == "bsr":
            height, width = self.blocksize
            return (self.pattern.columns[:: height * width] // width).astype(np.int32)
        return (self.pattern.columns if self.format == "csr" else self.pattern.rows).astype(np.int32)

    @property
    def indptr(self) -> Any:
        self._require("csr", "csc", "bsr")
        along = self.pattern.columns if self.format == "csc" else self.pattern.rows
        length = self.shape[1] if self.format == "csc" else self.shape[0]
        if self.format == "bsr":
            height, width = self.blocksize
            along, length = along[:: height * width] // height, length // height
        starts = np.zeros(length + 1, np.int32)
        np.cumsum(np.bincount(along, minlength=length), out=starts[1:])
        return starts

    @property
    def offsets(self) -> Any:
        self._require("dia")
        return np.unique(self.pattern.columns - self.pattern.rows).astype(np.int32)

    @property
    def data(self) -> Any:
        if self.format == "bsr":
            return self.values.reshape((-1, *self.blocksize))
        if self.format != "dia":
            return self.values
        offsets = self.offsets
        width = int(np.max(self.pattern.columns, initial=-1)) + 1
        diagonal = np.searchsorted(offsets, self.pattern.columns - self.pattern.rows)
        places = diagonal * width + self.pattern.columns
        return _sums(self.values, places, len(offsets) * width).reshape((len(offsets), width))

    # -- other formats

    def _like(self, values: Any, pattern: Pattern | None = None, format: str | None = None) -> SparseTensor:
        return SparseTensor(
            values, self.pattern if pattern is None else pattern, format or self.format, self.is_matrix, self.blocksize
        )

    def _sorted(self, by_column: bool) -> tuple[Any, Pattern]:
        """The values in order of their rows (or columns), those of one place added up."""
        rows, columns = self.coords
        keys = columns * self.shape[0] + rows if by_column else rows * self.shape[1] + columns
        if len(keys) < 2 or np.all(keys[1:] > keys[:-1]):
            return self.values, self.pattern
        distinct, place = np.unique(keys, return_inverse=True)
        if len(distinct) == len(keys):
            values = self.values[np.argsort(keys, kind="stable")]
        else:
            values = _sums(self.values, place.reshape(-1), len(distinct))
        inner = self.shape[0] if by_column else self.shape[1]
        first, second = distinct // max(inner, 1), distinct % max(inner, 1)
        return values, Pattern(second, first, self.shape) if by_column else Pattern(first, second, self.shape)

    def asformat(self, format: str | None, copy: bool = False) -> SparseTensor:
        """The same matrix in another format; values are copied, but for "coo"."""
        if format is None or format == self.format:
            return self.copy() if copy else self
        if format not in FORMATS:
            raise argument_error(OperandError, f"asformat: format={format!r}.", f"one of {', '.join(FORMATS)}")
        if format == "coo":
            return self._like(self.values, self.pattern, "coo")
        values, pattern = self._sorted(by_column=format == "csc")
        return SparseTensor(values.copy() if values is self.values else values, pattern, format, self.is_matrix)

    def tocsr(self, copy: bool = False) -> SparseTensor:
        return self.asformat("csr", copy)

    def tocsc(self, copy: bool = False) -> SparseTensor:
        return self.asformat("csc", copy)

    def tocoo(self, copy: bool = False) -> SparseTensor:
        return self.asformat("coo")

    def todia(self, copy: bool = False) -> SparseTensor:
        return self.asformat("dia", copy)

    def tolil(self, copy: bool = False) -> SparseTensor:
        return self.asformat("lil", copy)

    def todok(self, copy: bool = False) -> SparseTensor:
        return self.asformat("dok", copy)

    def tobsr(self, blocksize: tuple[int, int] | None = None, copy: bool = False) -> SparseTensor:
        """Blocks of this size; without one, of single elements."""
        height, width = blocksize or (1, 1)
        if (height, width) == (1, 1):
            return self.asformat("bsr")
        rows, columns = self.coords
        if self.shape[0] % height or self.shape[1] % width:
            raise argument_error(
                OperandError, f"tobsr: blocksize={blocksize} of shape {self.shape}.", "sizes that divide the shape"
            )
        across = self.shape[1] // width
        blocks, block = np.unique(rows // height * across + columns // width, return_inverse=True)
        places = (block.reshape(-1) * height + rows % height) * width + columns % width
        first = np.repeat(blocks // across * height, height * width) + np.tile(
            np.repeat(np.arange(height), width), len(blocks)
        )
        second = np.repeat(blocks % across * width, height * width) + np.tile(np.arange(width), len(blocks) * height)
        values = _sums(self.values, places, len(first))
        return SparseTensor(values, Pattern(first, second, self.shape), "bsr", self.is_matrix, (height, width))

    def toarray(self, order: Any = None, out: Any = None) -> Any:
        """The dense tensor."""
        rows, columns = self.coords
        return _sums(self.values, rows * self.shape[1] + columns, self.shape[0] * self.shape[1]).reshape(self.shape)

    def todense(self, order: Any = None, out: Any = None) -> Any:
        """The dense tensor."""
        return self.toarray()

    def copy(self) -> SparseTensor:
        return self._like(self.values.copy())

    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> SparseTensor:
        return self._like(self.values.astype(dtype))

    def sum_duplicates(self) -> None:
        """Add up values of one place, here."""
        self._elements.replace(*self._sorted(by_column=self.format == "csc"))

    def sort_indices(self) -> None:
        """Put the values in order, here."""
        self.sum_duplicates()

    def eliminate_zeros(self) -> None:
        """Nothing: a value that is zero now has a derivative, and may not be zero at the next call."""

    def nonzero(self) -> tuple[Any, Any]:
        """The rows and columns of the values."""
        return self.coords

    # -- elements

    @property
    def T(self) -> SparseTensor:
        return self.transpose()

    def transpose(self, axes: Any = None, copy: bool = False) -> SparseTensor:
        """The transpose; one in compressed rows is in compressed columns."""
        turned = {"csr": "csc", "csc": "csr"}.get(self.format, self.format)
        if self.format == "bsr":
            return self._like(self.values, self.pattern.transposed, "coo").tobsr(self.blocksize[::-1])
        return self._like(self.values, self.pattern.transposed, turned)

    def conj(self, copy: bool = True) -> SparseTensor:
        return self._like(np.conj(self.values)) if self.dtype.kind == "c" else self

    conjugate = conj

    @property
    def H(self) -> SparseTensor:
        return self.conj().transpose()

    def getH(self) -> SparseTensor:
        return self.H

    @property
    def real(self) -> SparseTensor:
        return self._like(np.real(self.values))

    @property
    def imag(self) -> SparseTensor:
        return self._like(np.imag(self.values))

    def diagonal(self, k: int = 0) -> Any:
        """The k-th diagonal, as a tensor."""
        rows, columns = self.coords
        chosen = np.flatnonzero(columns - rows == k)
        length = max(min(self.shape[0] + min(k, 0), self.shape[1] - max(k, 0)), 0)
        return _sums(self.values[chosen], np.minimum(rows, columns)[chosen], length)

    def trace(self, offset: int = 0) -> Any:
        return self.diagonal(offset).sum()

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """The sum of all elements, or of each column or row; of a matrix class with two axes, as SciPy has it."""
        if axis is None or (isinstance(axis, tuple) and len(axis) == 2):
            return self.values.sum(dtype=dtype)
        axis = operator.index(axis[0] if isinstance(axis, tuple) else axis) % 2
        sums = _sums(self.values, self.coords[1 - axis], self.shape[1 - axis])
        sums = sums if dtype is None else sums.astype(dtype)
        return (sums[None, :] if axis == 0 else sums[:, None]) if self.is_matrix else sums

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """The mean of all elements, the zeros among them, or of each column or row."""
        count = self.shape[0] * self.shape[1] if axis is None else self.shape[operator.index(axis) % 2]
        return self.sum(axis, dtype) / count

    def __setitem__(self, key: Any, value: Any) -> None:
        element = self._elements.element(key)
        if element is not None:
            self._elements.write(*element, value)
        else:
            self._elements.write_many(key, value)

    def setdiag(self, values: Any, k: int = 0) -> None:
        """Write to a diagonal: one value, or one for each of its elements, as far as they go."""
        rows, columns = np.arange(max(0, -k), self.shape[0]), np.arange(max(0, k), self.shape[1])
        values = as_value(values)
        length = min(len(rows), len(columns), *values.shape)
        self[rows[:length], columns[:length]] = values[:length] if values.shape else values

    def __getitem__(self, key: Any) -> Any:
        element = self._elements.element(key)
        if element is not None:
            return self._elements.read(*element)
        values, pattern = self._sorted(by_column=False)
        numbers = scipy.sparse.csr_array(
            (np.arange(1, pattern.count + 1), (pattern.rows, pattern.columns)), shape=self.shape
        )
        if self.is_matrix:
            numbers = scipy.sparse.csr_matrix(numbers)
        found = numbers[key]
        if not scipy.sparse.issparse(found):
            found = np.asarray(found)
            picked = values[np.maximum(found - 1, 0)] if pattern.count else np.zeros(found.shape, self.dtype)
            return np.where(found > 0, picked, 0)
        if found.ndim == 1:
            found = found.toarray()
            return np.where(found > 0, values[np.maximum(found - 1, 0)], 0)
        found = found.tocoo()
        chosen = Pattern(found.row, found.col, found.shape)
        part = self._like(values[found.data - 1], chosen, "coo")
        return part.asformat(self.format if self.format in ("csr", "csc", "lil") else "csr")

    def getrow(self, i: int) -> Any:
        return self[[i], :]

    def getcol(self, j: int) -> Any:
        return self[:, [j]]

    def reshape(self, *shape: Any, order: str = "C", copy: bool = False) -> SparseTensor:
        """The same elements, row by row, in another shape of two axes."""
        wanted = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else tuple(shape)
        total = self.shape[0] * self.shape[1]
        if len(wanted) == 2 and -1 in wanted:
            known = max(wanted)
            wanted = tuple(total // known if n == -1 else n for n in wanted)
        if len(wanted) != 2 or wanted[0] * wanted[1] != total or order != "C":
            raise argument_error(ShapeError, f"reshape of {self.shape} to {shape}.", "two axes with as many elements")
        flat = self.pattern.rows * self.shape[1] + self.pattern.columns
        return self._like(self.values, Pattern(flat // wanted[1], flat % wanted[1], wanted), "coo").asformat(
            "coo" if self.format == "bsr" else self.format
        )

    # -- arithmetic

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

    def __neg__(self) -> SparseTensor:
        return self._like(-self.values)

    def __pos__(self) -> SparseTensor:
        return self

    def __abs__(self) -> SparseTensor:
        return self._like(np.abs(self._distinct().values), self._distinct().pattern)

    def _distinct(self) -> SparseTensor:
        """The same with one value for each place."""
        return self._like(*self._sorted(by_column=self.format == "csc"))

    def power(self, n: Any, dtype: Any = None) -> SparseTensor:
        """The power of each element."""
        if not n > 0:
            raise argument_error(OperandError, f"power: n={n!r} makes the zeros infinite or one.", "a positive n")
        distinct = self._distinct()
        return distinct._like(distinct.values**n)

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

    def apply(self: SparseTensor) -> SparseTensor:
        distinct = self._distinct()
        return distinct._like(function(distinct.values))

    apply.__name__, apply.__doc__ = name, f"`np.{name}` of each element; it is zero at zero."
    return apply


for _name in ELEMENTWISE:
    setattr(SparseTensor, _name, _method(_name))


def _sums(values: Any, places: Any, count: int) -> Any:
    """The sums of the values that have the same place, of `count` places."""
    pattern = Pattern(places, np.arange(len(places)), (count, len(places)))
    ones = np.ones(len(places), np.zeros(0, values.dtype).real.dtype if values.dtype.kind in "fc" else np.float64)
    return sparse_matmul(ones, values[:, None], pattern=pattern)[:, 0].astype(values.dtype)


def is_sparse(x: Any) -> bool:
    """Whether `x` is a sparse matrix, of SciPy's or of tensors."""
    return isinstance(x, SparseTensor) or scipy.sparse.issparse(x)


def as_sparse(x: Any, is_matrix: bool = False) -> SparseTensor:
    """A sparse matrix of SciPy's, or a dense matrix, as one of tensors, in the order of its values."""
    if isinstance(x, SparseTensor):
        return x
    if scipy.sparse.issparse(x):
        if x.ndim != 2:
            raise argument_error(ShapeError, f"a sparse array of shape {x.shape}.", "two axes")
        if x.format == "coo":
            values, pattern = x.data, Pattern(x.row, x.col, x.shape)
        else:
            values, pattern = pattern_of(x)
        kind = x.format if x.format in ("coo", "csr", "csc") else "csr"
        return SparseTensor(values, pattern, kind, isinstance(x, scipy.sparse.spmatrix))
    return from_dense(x, "coo", is_matrix)


def from_dense(x: Any, format: str, is_matrix: bool) -> SparseTensor:
    """A dense matrix as a sparse one: its elements that are not zero.

    Of a tensor whose gradient is recorded all are kept, as there is a derivative by those that are zero too.
    """
    x = as_value(x)
    if x.ndim == 1:
        x = x[None, :]
    if x.ndim != 2:
        raise argument_error(ShapeError, f"a sparse matrix of an array of shape {x.shape}.", "a matrix")
    if isinstance(x, Tensor) and is_followed(x):
        rows, columns = np.indices(x.shape).reshape(2, -1)
    else:
        rows, columns = np.nonzero(plain(x))
    made = SparseTensor(x[rows, columns], Pattern(rows, columns, x.shape), "coo", is_matrix)
    return made.asformat(format)
