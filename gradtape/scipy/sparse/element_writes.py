"""Writes to elements of a sparse matrix of tensors: `A[i, j] = x`, `A[i, j] += x`, `A[rows, columns] = values`.

Single elements are collected, and become part of the matrix when it is used: an assembly that adds to one element after
the other takes time in proportion to the elements, and not to the matrix for each of them.
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


class Elements:
    """The values of a sparse matrix and their places, and elements that were written since."""

    def __init__(self, values: Any, pattern: Pattern) -> None:
        self._values, self._pattern = values, pattern
        self._written: dict[int, Any] = {}
        self._places: dict[int, list[int]] | None = None

    @property
    def values(self) -> Any:
        self._merge()
        return self._values

    @property
    def pattern(self) -> Pattern:
        self._merge()
        return self._pattern

    def replace(self, values: Any, pattern: Pattern) -> None:
        """Have other values at other places."""
        self._values, self._pattern, self._written, self._places = values, pattern, {}, None

    @property
    def shape(self) -> tuple[int, int]:
        return self._pattern.shape

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

    def read(self, row: int, column: int) -> Any:
        """One element: zero where there is no value, the sum where there are several."""
        key = row * self.shape[1] + column
        if key in self._written:
            return self._written[key]
        if self._places is None:
            self._places = {}
            for place, each in enumerate((self._pattern.rows * self.shape[1] + self._pattern.columns).tolist()):
                self._places.setdefault(each, []).append(place)
        places = self._places.get(key)
        if places is None:
            return self._values.dtype.type(0)
        return self._values[places[0]] if len(places) == 1 else self._values[np.array(places)].sum()

    def write(self, row: int, column: int, value: Any) -> None:
        """Write one element."""
        value = as_value(value)
        if value.size != 1:
            raise argument_error(ShapeError, f"an element of a sparse matrix of shape {value.shape}.", "one number")
        self._written[row * self.shape[1] + column] = self._as_dtype(value.reshape(()))

    def write_many(self, key: Any, value: Any) -> None:
        """Write the elements that slices, lists of indices or a mask name; one value, or one for each."""
        rows, columns = self._chosen(key)
        value = as_value(value.toarray() if hasattr(value, "toarray") else value)
        values = self._as_dtype(broadcast_to(value, rows.shape) if value.shape != rows.shape else value)
        self._put((rows * self.shape[1] + columns).reshape(-1), values.reshape((-1,)))

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
        if value.dtype == self._values.dtype:
            return value
        if isinstance(value, Tensor) and self._values.dtype.kind in "biu":
            raise argument_error(
                OperandError,
                f"a tensor of dtype {value.dtype} written to a sparse matrix of dtype {self._values.dtype}.",
                "dtype=float for the matrix",
            )
        return value.astype(self._values.dtype)

    def _merge(self) -> None:
        if self._written:
            keys, values = np.fromiter(self._written, np.intp), list(self._written.values())
            self._written = {}
            self._put(keys, stack(values) if any(isinstance(x, Tensor) for x in values) else np.array(values))

    def _put(self, keys: Any, values: Any) -> None:
        """Write values at places, row after row; the last one counts where a place is named twice."""
        if self._written:
            self._merge()
        width = self.shape[1]
        before = self._pattern.rows * width + self._pattern.columns
        kept = np.flatnonzero(~np.isin(before, keys))
        distinct, backwards = np.unique(keys[::-1], return_index=True)
        last = len(keys) - 1 - backwards
        new = values if np.array_equal(last, np.arange(len(keys))) else values[last]
        if len(kept):
            new = concatenate([self._values if len(kept) == len(before) else self._values[kept], new])
        places = np.concatenate([before[kept], distinct])
        order = np.argsort(places, kind="stable")
        places = places[order]
        self.replace(
            new if np.array_equal(order, np.arange(len(order))) else new[order],
            Pattern(places // max(width, 1), places % max(width, 1), self.shape),
        )
