"""Sparse matrices whose values are tensors."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import scipy.sparse

from gradtape.errors import OperandError, ShapeError, UnsupportedError
from gradtape.extend import Tensor, argument_error, as_value, is_followed, messages, plain, tensor, write_result_into
from gradtape.ops.sparse_products import Pattern, pattern_of
from gradtape.scipy.sparse.arithmetic import Arithmetic
from gradtape.scipy.sparse.arithmetic import is_sparse as is_sparse
from gradtape.scipy.sparse.dictionaries import DictionaryOfKeys
from gradtape.scipy.sparse.element_writes import Elements
from gradtape.scipy.sparse.format_parts import FormatParts, diagonals_of, sums_by_place
from gradtape.scipy.sparse.stored_values import Values, numbers_of

FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")


class SparseTensor(FormatParts, Arithmetic, DictionaryOfKeys):
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
        self,
        values: Any,
        pattern: Pattern,
        format: str,
        is_matrix: bool,
        blocksize: tuple[int, int] = (1, 1),
        droppable: Any = None,
    ) -> None:
        holder = values if isinstance(values, Values) else Values(values, droppable)
        if holder.droppable is not None and format in ("bsr", "dia"):
            blocks = np.arange(pattern.count) // (blocksize[0] * blocksize[1])
            holder.groups = blocks if format == "bsr" else np.unique(diagonals_of(pattern), return_inverse=True)[1]
        self._elements = Elements(holder, pattern, format)
        self.format = format
        self.is_matrix = is_matrix
        self.blocksize = blocksize

    # -- what it is

    @property
    def entries(self) -> Any:
        return self._elements.entries

    @property
    def pattern(self) -> Pattern:
        return self._elements.pattern

    @property
    def shape(self) -> tuple[int, int]:
        return self._elements.shape

    @property
    def dtype(self) -> Any:
        return self._elements.holder.data.dtype

    @property
    def nnz(self) -> int:
        return self._elements.stored_places.count

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
        if self.format == "dok":
            return self.nnz
        raise TypeError("sparse array length is ambiguous; use getnnz() or shape[0]")

    def __bool__(self) -> bool:
        raise ValueError("The truth value of an array with more than one element is ambiguous")

    def __repr__(self) -> str:
        kind = "matrix" if self.is_matrix else "array"
        return f"<{self.format}_{kind} of tensors: dtype {self.dtype}, {self.nnz} stored values, shape {self.shape}>"

    def __getattr__(self, name: str) -> Any:
        """What SciPy's matrices have beside, as long as no tensor has been written to it."""
        if name.startswith("_"):
            raise AttributeError(f"'SparseTensor' object has no attribute {name!r}")
        kind = "matrix" if self.is_matrix else "array"
        theirs = getattr(scipy.sparse, f"{self.format}_{kind}")
        if not hasattr(theirs, name):
            raise AttributeError(f"'{self.format}_{kind}' object has no attribute {name!r}")
        if isinstance(self.entries, Tensor):
            raise messages.sparse_matrix_detached(self.shape)
        return getattr(theirs(scipy.sparse.coo_array((self.entries, self._places), shape=self.shape)), name)

    def __gradtape_plain__(self, plain: Any) -> Any:
        """The matrix of SciPy's with values that `plain` makes of these."""
        kind = getattr(scipy.sparse, f"{self.format}_{'matrix' if self.is_matrix else 'array'}")
        return kind(scipy.sparse.coo_array((plain(self.entries), self._places), shape=self.shape))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise messages.sparse_matrix_detached(self.shape)

    # -- other formats

    def _like(
        self, values: Any, pattern: Pattern | None = None, format: str | None = None, droppable: Any = None
    ) -> SparseTensor:
        """A matrix of this class with other values; without a pattern, at the places of these."""
        if pattern is None:
            pattern, droppable = self.pattern, self._marks
        return SparseTensor(values, pattern, format or self.format, self.is_matrix, self.blocksize, droppable)

    @property
    def _marks(self) -> Any:
        """Which values are stored only if they are not zero; None for none of them."""
        return self._elements.holder.marks

    def _with_holder(self, holder: Values, pattern: Pattern | None = None, format: str | None = None) -> SparseTensor:
        """A matrix of this class with the values in a holder, at the places of these if there is no pattern."""
        pattern = self._elements.made_with if pattern is None else pattern
        return SparseTensor(holder, pattern, format or self.format, self.is_matrix, self.blocksize)

    def _sharing(self, pattern: Pattern | None = None, format: str | None = None) -> SparseTensor:
        """A matrix that has the memory of these values: what is written to one of them, both have."""
        holder = self._elements.holder
        holder.is_shared = True
        made = self._with_holder(holder, pattern, format)
        if made.format in ("lil", "dok"):
            made._elements = self._elements
        return made

    def __copy__(self) -> SparseTensor:
        return self._sharing()

    def _sorted(self, by_column: bool) -> tuple[Any, Pattern, Any]:
        """The values in order of their rows (or columns), those of one place added up, their places and marks."""
        (rows, columns), values, marks = self._places, self.entries, self._marks
        keys = columns * self.shape[0] + rows if by_column else rows * self.shape[1] + columns
        if len(keys) < 2 or np.all(keys[1:] > keys[:-1]):
            return values, self.pattern, marks
        distinct, place = np.unique(keys, return_inverse=True)
        if len(distinct) == len(keys):
            order = np.argsort(keys, kind="stable")
            values, marks = values[order], None if marks is None else marks[order]
        else:
            values = sums_by_place(values, place.reshape(-1), len(distinct))
            marks = None if marks is None else np.bincount(place.reshape(-1), ~marks, len(distinct)) == 0
        inner = self.shape[0] if by_column else self.shape[1]
        first, second = distinct // max(inner, 1), distinct % max(inner, 1)
        pattern = Pattern(second, first, self.shape) if by_column else Pattern(first, second, self.shape)
        return values, pattern, marks

    def asformat(self, format: str | None, copy: bool = False) -> SparseTensor:
        """The same matrix in another format; it has its own memory, unless it is in this format already."""
        if format is None or format == self.format:
            return self.copy() if copy else self
        if format not in FORMATS:
            raise argument_error(OperandError, f"asformat: format={format!r}.", f"one of {', '.join(FORMATS)}")
        return getattr(self, f"to{format}")(copy=copy)  # type: ignore[no-any-return]

    def _converted(self, format: str, copy: bool) -> SparseTensor:
        if format == self.format:
            return self.copy() if copy else self
        values, pattern, marks = self._sorted(by_column=format == "csc")
        if self.format == "dia":  # its zeros are not stored in other formats
            marks = np.ones(pattern.count, bool)
        return SparseTensor(_own(values, self.entries), pattern, format, self.is_matrix, droppable=marks)

    def tocsr(self, copy: bool = False) -> SparseTensor:
        return self._converted("csr", copy)

    def tocsc(self, copy: bool = False) -> SparseTensor:
        return self._converted("csc", copy)

    def tocoo(self, copy: bool | None = None) -> SparseTensor:
        """The same in coordinates; those of compressed columns and of blocks are copied unless copy=False."""
        if copy is None:
            copy = self.format in ("csc", "bsr")
        if self.format in ("dia", "lil", "dok"):
            marks = np.ones(self.pattern.count, bool) if self.format == "dia" else self._marks
            values = self.entries if self.format == "dia" else self.entries.copy()
            return self._like(values, self.pattern, "coo", marks)
        shared = self if self.format == "coo" else self._sharing(format="coo")
        return shared.copy() if copy else shared

    def todia(self, copy: bool = False) -> SparseTensor:
        return self._converted("dia", copy)

    def tolil(self, copy: bool = False) -> SparseTensor:
        return self._converted("lil", copy)

    def todok(self, copy: bool = False) -> SparseTensor:
        return self._converted("dok", copy)

    def tobsr(self, blocksize: tuple[int, int] | None = None, copy: bool = False) -> SparseTensor:
        """Blocks of this size; without one, of the size that SciPy finds."""
        if self.format == "bsr" and blocksize in (None, self.blocksize):
            return self.copy() if copy else self
        copy = copy or (self.format == "csr" and blocksize is None)
        if blocksize is None:
            stored = self._elements.stored_places
            blocksize = (
                scipy.sparse.csr_array((np.ones(stored.count), (stored.rows, stored.columns)), shape=self.shape)
                .tobsr()
                .blocksize
            )
        height, width = blocksize
        if (height, width) == (1, 1):
            if self.format == "csr" and not copy:
                return self._sharing(format="bsr")
            return self._converted("bsr", copy)
        rows, columns = self._places
        if self.shape[0] % height or self.shape[1] % width:
            raise argument_error(
                OperandError, f"tobsr: blocksize={blocksize} of shape {self.shape}.", "sizes that divide the shape"
            )
        across = self.shape[1] // width
        blocks, block = np.unique(rows // height * across + columns // width, return_inverse=True)
        block = block.reshape(-1)
        places = (block * height + rows % height) * width + columns % width
        first = np.repeat(blocks // across * height, height * width) + np.tile(
            np.repeat(np.arange(height), width), len(blocks)
        )
        second = np.repeat(blocks % across * width, height * width) + np.tile(np.arange(width), len(blocks) * height)
        marks = np.ones(len(rows), bool) if self.format == "dia" else self._marks
        if marks is not None:
            marks = np.repeat(np.bincount(block, ~marks, len(blocks)) == 0, height * width)
        values = sums_by_place(self.entries, places, len(first))
        return SparseTensor(values, Pattern(first, second, self.shape), "bsr", self.is_matrix, (height, width), marks)

    def toarray(self, order: Any = None, out: Any = None) -> Any:
        """The dense tensor."""
        if out is not None:
            return write_result_into(out, self.toarray)
        rows, columns = self._places
        return sums_by_place(self.entries, rows * self.shape[1] + columns, self.shape[0] * self.shape[1]).reshape(
            self.shape
        )

    def todense(self, order: Any = None, out: Any = None) -> Any:
        """The dense tensor."""
        return self.toarray(order, out)

    def copy(self) -> SparseTensor:
        """The same with its own memory."""
        return self._with_holder(self._elements.holder.copy())

    def __deepcopy__(self, memo: Any) -> SparseTensor:
        return self.copy()

    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> SparseTensor:
        if np.dtype(dtype) == self.dtype:
            return self.copy() if copy else self
        return self._like(self.entries.astype(dtype))

    def sum_duplicates(self) -> None:
        """Add up values of one place, here."""
        if self.format in ("csr", "csc", "coo"):
            values, pattern, marks = self._sorted(by_column=self.format == "csc")
            if pattern is not self.pattern:
                self._elements.replace(values, pattern, marks)

    def sort_indices(self) -> None:
        """Put the values in order, here."""
        self.sum_duplicates()

    def eliminate_zeros(self) -> None:
        """Store no values that are zero, here; there are derivatives by them all the same."""
        self._elements.replace(self.entries, self.pattern, np.ones(self.pattern.count, bool))

    def prune(self) -> None:
        """Nothing: there is no memory beside that of the values."""

    def nonzero(self) -> tuple[Any, Any]:
        """The rows and columns of the values that are not zero."""
        is_zero = numbers_of(self.entries == 0)
        return self.pattern.rows[~is_zero], self.pattern.columns[~is_zero]

    def count_nonzero(self, axis: int | None = None) -> Any:
        """How many values are not zero, in all or for each column or row."""
        rows, columns = self.nonzero()
        if axis is None:
            return len(rows)
        along = 0 if axis in (1, -1) else 1
        return np.bincount((rows, columns)[along], minlength=self.shape[along])

    def resize(self, *shape: Any) -> None:
        """Have another shape, here: without the elements that are outside of it."""
        wanted = tuple(operator.index(n) for n in (shape[0] if len(shape) == 1 else shape))
        if len(wanted) != 2:
            raise argument_error(ShapeError, f"resize to {wanted}.", "two axes")
        (rows, columns), marks = self._places, self._marks
        kept = np.flatnonzero((rows < wanted[0]) & (columns < wanted[1]))
        pattern = Pattern(rows[kept], columns[kept], wanted)
        self._elements.replace(self.entries[kept], pattern, None if marks is None else marks[kept])

    # -- elements

    @property
    def T(self) -> SparseTensor:
        return self.transpose()

    def transpose(self, axes: Any = None, copy: bool = False) -> SparseTensor:
        """The transpose; one in compressed rows is in compressed columns."""
        turned = {"csr": "csc", "csc": "csr"}.get(self.format)
        if self.format == "bsr":
            return self._like(self.entries, self.pattern.transposed, "coo", self._marks).tobsr(self.blocksize[::-1])
        if self.format == "dia":
            offsets = -self.offsets
            made = self._like(self.entries, self.pattern.transposed, droppable=self._marks)
            made._diagonals(offsets, self.shape[0])
            return made
        if turned is None and self.format != "coo":
            return self._like(self.entries, self.pattern.transposed, "coo", self._marks).asformat(self.format)
        shared = self._sharing(self._elements.made_with.transposed, turned)
        return shared.copy() if copy else shared

    def conj(self, copy: bool = True) -> SparseTensor:
        if self.dtype.kind == "c":
            return self._like(np.conj(self.entries))
        return self.copy() if copy else self

    conjugate = conj

    @property
    def H(self) -> SparseTensor:
        return self.conj().transpose()

    def getH(self) -> SparseTensor:
        return self.H

    @property
    def real(self) -> SparseTensor:
        if self.dtype.kind == "c":
            return self._like(np.real(self.entries))
        return self.tocsr() if self.format in ("lil", "dok") else self._sharing()

    @property
    def imag(self) -> SparseTensor:
        return self._like(np.imag(self.entries))

    def diagonal(self, k: int = 0) -> Any:
        """The k-th diagonal, as a tensor; of a matrix in diagonals, a view."""
        if self.format == "dia" and k in self.offsets:
            first, last, data = max(0, k), min(self.shape[0] + k, self.shape[1]), self.data
            if last <= data.shape[1]:
                return data[int(np.flatnonzero(self.offsets == k)[0]), first:last]
        rows, columns = self._places
        chosen = np.flatnonzero(columns - rows == k)
        length = max(min(self.shape[0] + min(k, 0), self.shape[1] - max(k, 0)), 0)
        return sums_by_place(self.entries[chosen], np.minimum(rows, columns)[chosen], length)

    def trace(self, offset: int = 0) -> Any:
        return self.diagonal(offset).sum()

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """The sum of all elements, or of each column or row; of a matrix class with two axes, as SciPy has it."""
        if axis is None or (isinstance(axis, tuple) and len(axis) == 2):
            return self.entries.sum(dtype=dtype)
        axis = operator.index(axis[0] if isinstance(axis, tuple) else axis) % 2
        sums = sums_by_place(self.entries, self._places[1 - axis], self.shape[1 - axis])
        sums = sums if dtype is None else sums.astype(dtype)
        return (sums[None, :] if axis == 0 else sums[:, None]) if self.is_matrix else sums

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """The mean of all elements, the zeros among them, or of each column or row."""
        count = self.shape[0] * self.shape[1] if axis is None else self.shape[operator.index(axis) % 2]
        return self.sum(axis, dtype) / count

    def max(self, axis: Any = None, out: Any = None) -> Any:
        """The largest element, where those that are not stored are zeros."""
        return self._extreme("max", np.maximum, axis)

    def min(self, axis: Any = None, out: Any = None) -> Any:
        """The smallest element, where those that are not stored are zeros."""
        return self._extreme("min", np.minimum, axis)

    def _extreme(self, name: str, choose: Any, axis: Any) -> Any:
        if self.format not in ("bsr", "coo", "csc", "csr"):
            kind = "matrix" if self.is_matrix else "array"
            raise AttributeError(f"'{self.format}_{kind}' object has no attribute {name!r}")
        if axis is not None:
            raise argument_error(
                UnsupportedError, f"{name}: axis={axis!r} of a sparse matrix of tensors.", f"A.toarray().{name}(axis)"
            )
        distinct = self._distinct()
        has_zeros = distinct.pattern.count < self.shape[0] * self.shape[1]
        if not distinct.pattern.count:
            return distinct.entries.sum()
        found = choose.reduce(distinct.entries)
        return choose(found, 0) if has_zeros else found

    def __setitem__(self, key: Any, value: Any) -> None:
        if self.format in ("bsr", "dia"):
            raise TypeError(f"a sparse matrix in the format {self.format!r} does not support item assignment")
        key = _plain_key(key)
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
        rows, columns = rows[:length], columns[:length]
        if self.format == "dia":
            self._set_diagonal(columns, values[:length] if values.shape else values, k)
        else:
            self._elements.write_many((rows, columns), values[:length] if values.shape else values)

    def _set_diagonal(self, columns: Any, values: Any, k: int) -> None:
        """Write to one diagonal of a matrix in diagonals: in its memory, if it has this one."""
        holder = self._diagonals()
        values = np.broadcast_to(values, columns.shape).astype(self.dtype)
        if k in holder.offsets and len(columns) and columns[-1] < holder.data.shape[1]:
            row = int(np.flatnonzero(holder.offsets == k)[0])
            if isinstance(values, Tensor) and not isinstance(holder.data, Tensor):
                holder.data = tensor(holder.data)
            holder.data[row, columns[0] : columns[-1] + 1] = values
            return
        kept = np.flatnonzero((diagonals_of(self.pattern) != k) | ~np.isin(self.pattern.columns, columns))
        pattern = Pattern(
            np.append(self.pattern.rows[kept], columns - k), np.append(self.pattern.columns[kept], columns), self.shape
        )
        self._elements.replace(np.concatenate([self.entries[kept], values]), pattern)

    def __getitem__(self, key: Any) -> Any:
        key = _plain_key(key)
        element = self._elements.element(key)
        if element is not None:
            return self._elements.read(*element)
        values, pattern, marks = self._sorted(by_column=False)
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
        chosen, numbers = Pattern(found.row, found.col, found.shape), found.data - 1
        part = self._like(values[numbers], chosen, "coo", None if marks is None else marks[numbers])
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
        if wanted == self.shape:
            return self.copy() if copy else self
        if self.format in ("coo", "csr", "csc", "bsr"):
            shared = self._sharing(_reshaped(self._elements.made_with, wanted), "coo")
            return shared.copy() if copy else shared
        marks = np.ones(self.pattern.count, bool) if self.format == "dia" else self._marks
        made = self._like(self.entries.copy(), _reshaped(self.pattern, wanted), "coo", marks)
        return made.asformat("lil") if self.format == "lil" else made


def _reshaped(pattern: Pattern, shape: tuple[int, int]) -> Pattern:
    """The places, row by row, in a matrix of another shape."""
    flat = pattern.rows * pattern.shape[1] + pattern.columns
    return Pattern(flat // max(shape[1], 1), flat % max(shape[1], 1), shape)


def _own(values: Any, others: Any) -> Any:
    """Values in memory that is not that of others."""
    return values.copy() if values is others else values


def _plain_key(key: Any) -> Any:
    """An index in which masks and whole numbers that are tensors are arrays."""
    if isinstance(key, tuple):
        return tuple(_plain_key(part) for part in key)
    return key.numpy() if isinstance(key, Tensor) and key.ndim else key


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

    Of a tensor whose gradient is recorded there are derivatives by all elements, those that are zero too.
    """
    x = as_value(x)
    if x.ndim == 1:
        x = x[None, :]
    if x.ndim != 2:
        raise argument_error(ShapeError, f"a sparse matrix of an array of shape {x.shape}.", "a matrix")
    is_all = isinstance(x, Tensor) and is_followed(x)
    rows, columns = np.indices(x.shape).reshape(2, -1) if is_all else np.nonzero(plain(x))
    marks = np.ones(len(rows), bool) if is_all else None
    made = SparseTensor(x[rows, columns], Pattern(rows, columns, x.shape), "coo", is_matrix, droppable=marks)
    return made.asformat(format)
