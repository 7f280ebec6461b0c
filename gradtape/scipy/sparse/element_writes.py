"""Writes to elements of a sparse matrix of tensors: `A[i, j] = x`, `A[i, j] += x`, `A[rows, columns] = values`.

Elements that have no value yet are collected, and become part of the matrix when it is used: an assembly that adds to
one element after the other takes time in proportion to the elements, and not to the matrix for each of them.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import scipy.sparse

from gradtape.errors import OperandError, ShapeError
from gradtape.extend import Tensor, argument_error, as_value
from gradtape.ops import broadcast_to, concatenate, stack
from gradtape.ops.sparse_products import Pattern
from gradtape.scipy.sparse.stored_values import Values


class Elements:
    """The values of a sparse matrix and their places, and elements that were written since."""

    def __init__(self, values: Values, pattern: Pattern, format: str) -> None:
        self._values, self._made_with = values, pattern
        self._drops_zeros, self._by_column = format in ("lil", "dok"), format == "csc"
        self._arranged: tuple[Any, Pattern] = (None, pattern)
        self._written: dict[int, Any] = {}
        self._places: dict[int, list[int]] | None = None

    @property
    def holder(self) -> Values:
        """What holds the values, which other matrices may hold too."""
        self._merge()
        return self._values

    @property
    def entries(self) -> Any:
        return self.holder.everything

    @property
    def pattern(self) -> Pattern:
        """The places of the values."""
        self._merge()
        return self._pattern

    @property
    def _pattern(self) -> Pattern:
        if self._arranged[0] is not self._values.order:
            self._arranged = (self._values.order, self._values.arranged(self._made_with))
            self._places = None
        return self._arranged[1]

    @property
    def made_with(self) -> Pattern:
        """The places in the order in which the values were when their holder was made."""
        self._merge()
        return self._made_with

    @property
    def stored_places(self) -> Pattern:
        """The places of the values that are stored."""
        self.holder.sift()
        whole, count = self.pattern, self._values.count
        if self._values.dropped is None:
            return whole
        return Pattern(whole.rows[:count], whole.columns[:count], whole.shape)

    def own(self) -> None:
        """Have the values in a holder that other matrices do not have."""
        self._values = self.holder.copy()

    def replace(self, values: Any, pattern: Pattern, droppable: Any = None) -> None:
        """Have other values at other places, which no other matrix shares."""
        self._values, self._made_with = Values(values, droppable), pattern
        self._arranged, self._written, self._places = (None, pattern), {}, None

    @property
    def shape(self) -> tuple[int, int]:
        return self._made_with.shape

    def element(self, key: Any) -> tuple[int, int] | None:
        """The row and the column that a key of two whole numbers names; None for any other key."""
        if not (isinstance(key, tuple) and len(key) == 2):
            return None
        found = []
        for index, length in zip(key, self.shape, strict=True):
            if isinstance(index, (bool, np.bool_)) or not hasattr(index, "__index__") or np.ndim(index):
                return None
            number = operator.index(index)
            if not -length <= number < length:
                raise IndexError(f"index {number} of a sparse matrix of shape {self.shape}")
            found.append(number % length)
        return found[0], found[1]

    def _places_of(self, key: int) -> list[int] | None:
        """Where among the values those of a place are; None if it has none."""
        pattern = self._pattern
        if self._places is None:
            self._places = {}
            for place, each in enumerate((pattern.rows * self.shape[1] + pattern.columns).tolist()):
                self._places.setdefault(each, []).append(place)
        return self._places.get(key)

    def read(self, row: int, column: int) -> Any:
        """One element: zero where there is no value, the sum where there are several."""
        key = row * self.shape[1] + column
        if key in self._written:
            return self._written[key]
        places, values = self._places_of(key), self._values.everything
        if places is None:
            return values.dtype.type(0)
        return values[places[0]] if len(places) == 1 else values[np.array(places)].sum()

    def write(self, row: int, column: int, value: Any) -> None:
        """Write one element: in the memory of its value, if it has one that is stored."""
        value = as_value(value)
        if value.size != 1:
            raise argument_error(ShapeError, f"an element of a sparse matrix of shape {value.shape}.", "one number")
        key, value = row * self.shape[1] + column, self._as_dtype(value.reshape(()))
        if not self._drops_zeros and key not in self._written:
            self._sift_what_is_shared()
            places = self._places_of(key)
            if places is not None and len(places) == 1 and self._is_in_memory(np.array(places), value):
                self._values.data[places[0]] = value
                return
        self._written[key] = value

    def _sift_what_is_shared(self) -> None:
        """Tell which values are stored, if a write to them has to be seen by other matrices."""
        if self._values.is_shared:
            self._values.sift()

    def _is_in_memory(self, places: Any, value: Any) -> bool:
        """Whether the values at places are elements of an array that takes this value."""
        holder = self._values
        if not isinstance(holder.data, Tensor) and isinstance(value, Tensor):
            return False
        if holder.data.ndim != 1 or holder.places is not None or holder.droppable is not None:
            return False
        return holder.dropped is None or bool(np.all(places < holder.count))

    def write_many(self, key: Any, value: Any) -> None:
        """Write the elements that slices, lists of indices or a mask name; one value, or one for each."""
        rows, columns = self._chosen(key)
        value = as_value(value.toarray() if hasattr(value, "toarray") else value)
        if value.ndim == 2 and value.shape[0] == 1 and rows.ndim == 1:
            value = value[0]
        values = self._as_dtype(broadcast_to(value, rows.shape) if value.shape != rows.shape else value)
        self.put((rows * self.shape[1] + columns).reshape(-1), values.reshape((-1,)))

    def _chosen(self, key: Any) -> tuple[Any, Any]:
        """The rows and columns that a key names, as arrays of one shape."""
        if scipy.sparse.issparse(key):
            return key.nonzero()  # type: ignore[no-any-return]
        if isinstance(key, np.ndarray) and key.dtype == bool and key.ndim == 2:
            rows, columns = np.nonzero(key)
            return rows, columns
        key = key if isinstance(key, tuple) else (key,)
        if len(key) == 1:
            key = (slice(None) if key[0] is Ellipsis else key[0], slice(None))
        if len(key) != 2 or any(part is None or part is Ellipsis for part in key):
            raise argument_error(OperandError, f"a sparse matrix with the index {key!r}.", "a row and a column")
        numbers = [np.arange(length)[part] for part, length in zip(key, self.shape, strict=True)]
        if any(isinstance(part, slice) for part in key):
            rows, columns = (np.atleast_1d(part) for part in numbers)
            rows, columns = np.broadcast_arrays(rows[:, None], columns[None, :])
            is_single = [not isinstance(part, slice) and np.ndim(part) == 0 for part in key]
            return (rows.reshape(-1), columns.reshape(-1)) if any(is_single) else (rows, columns)
        rows, columns = np.broadcast_arrays(*numbers)
        return rows, columns

    def _as_dtype(self, value: Any) -> Any:
        """A value in the dtype of the matrix, which becomes that of tensors if it is one of whole numbers."""
        dtype = self._values.data.dtype
        if value.dtype == dtype:
            return value
        if isinstance(value, Tensor) and dtype.kind in "biu":
            raise argument_error(
                OperandError,
                f"a tensor of dtype {value.dtype} written to a sparse matrix of dtype {dtype}.",
                "dtype=float for the matrix",
            )
        return value.astype(dtype)

    def _merge(self) -> None:
        if self._written:
            keys, values = np.fromiter(self._written, np.intp), list(self._written.values())
            self._written = {}
            self.put(keys, stack(values) if any(isinstance(x, Tensor) for x in values) else np.array(values))

    def put(self, keys: Any, values: Any) -> None:
        """Write values at places, row after row; the last one counts where a place is named twice."""
        self._merge()
        if not self._drops_zeros:
            self._sift_what_is_shared()
        width, pattern = self.shape[1], self._pattern
        before = pattern.rows * width + pattern.columns
        distinct, backwards = np.unique(keys[::-1], return_index=True)
        last = len(keys) - 1 - backwards
        new = values if np.array_equal(last, np.arange(len(keys))) else values[last]
        if not self._drops_zeros and self._put_in_memory(before, distinct, new):
            return
        kept = np.flatnonzero(~np.isin(before, distinct))
        marks = self._values.marks
        marks = np.zeros(len(before), bool) if marks is None else marks
        everything = self._values.everything
        if len(kept):
            new = concatenate([everything if len(kept) == len(before) else everything[kept], new])
        places = np.concatenate([before[kept], distinct])
        marks = np.concatenate([marks[kept], np.full(len(distinct), self._drops_zeros)])
        rows, columns = places // max(width, 1), places % max(width, 1)
        order = np.lexsort((rows, columns) if self._by_column else (columns, rows))
        self.replace(
            new if np.array_equal(order, np.arange(len(order))) else new[order],
            Pattern(rows[order], columns[order], self.shape),
            marks[order],
        )

    def _put_in_memory(self, before: Any, keys: Any, values: Any) -> bool:
        """Write to values that are stored, each at its place in memory; whether all of them were written so."""
        order = np.argsort(before, kind="stable")
        found = np.searchsorted(before[order], keys)
        is_here = (found < len(before)) & (before[order][np.minimum(found, max(len(before) - 1, 0))] == keys)
        if not len(before) or not np.any(is_here) or len(np.unique(before)) != len(before):
            return False
        places = order[found[is_here]]
        if not self._is_in_memory(places, values):
            return False
        self._values.data[places] = values if np.all(is_here) else values[np.flatnonzero(is_here)]
        return bool(np.all(is_here))
