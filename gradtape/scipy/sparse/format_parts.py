"""The parts of the formats of sparse matrices of tensors: `A.data`, `A.indices`, `A.row`, `A.offsets` and so on.

They are of the values that are stored. The values are in memory that can be written to; places are copies that cannot.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import ShapeError
from gradtape.extend import argument_error, as_value
from gradtape.ops.sparse_products import Pattern, sparse_matmul
from gradtape.scipy.sparse.element_writes import Elements
from gradtape.scipy.sparse.stored_values import Values


class FormatParts:
    """The parts, for a matrix with elements in a format."""

    format: str
    blocksize: tuple[int, int]
    _elements: Elements

    @property
    def shape(self) -> tuple[int, int]:
        return self._elements.shape

    @property
    def pattern(self) -> Pattern:
        return self._elements.pattern

    @property
    def _places(self) -> tuple[Any, Any]:
        """The rows and columns of all values, those that are zero and not stored among them."""
        return self.pattern.rows, self.pattern.columns

    @property
    def coords(self) -> tuple[Any, Any]:
        stored = self._elements.stored_places
        return _fixed(stored.rows, np.intp), _fixed(stored.columns, np.intp)

    @property
    def row(self) -> Any:
        self._require("coo")
        return _fixed(self._elements.stored_places.rows)

    @property
    def col(self) -> Any:
        self._require("coo")
        return _fixed(self._elements.stored_places.columns)

    def _require(self, *formats: str) -> None:
        if self.format not in formats:
            raise AttributeError(f"a sparse matrix in the format {self.format!r} has no such part; only {formats} have")

    @property
    def indices(self) -> Any:
        self._require("csr", "csc", "bsr")
        stored = self._elements.stored_places
        if self.format == "bsr":
            height, width = self.blocksize
            return _fixed(stored.columns[:: height * width] // width)
        return _fixed(stored.columns if self.format == "csr" else stored.rows)

    @property
    def indptr(self) -> Any:
        self._require("csr", "csc", "bsr")
        stored = self._elements.stored_places
        along = stored.columns if self.format == "csc" else stored.rows
        length = self.shape[1] if self.format == "csc" else self.shape[0]
        if self.format == "bsr":
            height, width = self.blocksize
            along, length = along[:: height * width] // height, length // height
        return _fixed(np.cumsum(np.append(0, np.bincount(along, minlength=length))))

    @property
    def offsets(self) -> Any:
        self._require("dia")
        return _fixed(self._diagonals().offsets)

    @property
    def rows(self) -> Any:
        self._require("lil")
        return self._in_rows(self._elements.stored_places.columns.tolist())

    def _in_rows(self, items: list[Any]) -> Any:
        """An array with the items of each row, which cannot be written to."""
        counts = np.bincount(self._elements.stored_places.rows, minlength=self.shape[0])
        ends, result = np.cumsum(counts), np.empty(self.shape[0], object)
        for i in range(self.shape[0]):
            result[i] = tuple(items[ends[i] - counts[i] : ends[i]])
        result.setflags(write=False)
        return result

    @property
    def data(self) -> Any:
        if self.format == "dok":
            raise AttributeError("a sparse matrix in the format 'dok' has no data; A.values() are its values")
        if self.format == "dia":
            return self._diagonals().data
        holder = self._elements.holder
        holder.sift()
        if self.format == "lil":
            return self._in_rows(list(holder.stored))
        return holder.data.reshape((-1, *self.blocksize)) if self.format == "bsr" else holder.data

    @data.setter
    def data(self, new: Any) -> None:
        self._require("bsr", "coo", "csc", "csr", "dia")
        now, new = self.data, as_value(new)
        if now is new:
            return
        if new.shape != now.shape:
            raise argument_error(ShapeError, f"data of shape {new.shape}.", f"the present shape, {now.shape}")
        self._elements.own()
        self._elements.holder.data = new.reshape((-1,)) if self.format == "bsr" else new

    def _diagonals(self, offsets: Any = None, width: int | None = None) -> Values:
        """The values of a matrix in diagonals, in an array that has a row for each of them."""
        holder = self._elements.holder
        if holder.offsets is None:
            holder.sift()
            pattern = self._elements.stored_places
            holder.offsets = np.unique(diagonals_of(pattern)).astype(np.int32) if offsets is None else offsets
            width = int(np.max(pattern.columns, initial=-1)) + 1 if width is None else width
            order = np.argsort(holder.offsets)
            diagonal = order[np.searchsorted(holder.offsets, diagonals_of(pattern), sorter=order)]
            places, shape = diagonal * width + pattern.columns, (len(holder.offsets), width)
            holder.data = sums_by_place(holder.stored, places, shape[0] * shape[1]).reshape(shape)
            holder.places = places
        return holder


def sums_by_place(values: Any, places: Any, count: int) -> Any:
    """The sums of the values that have the same place, of `count` places."""
    pattern = Pattern(places, np.arange(len(places)), (count, len(places)))
    ones = np.ones(len(places), np.zeros(0, values.dtype).real.dtype if values.dtype.kind in "fc" else np.float64)
    return sparse_matmul(ones, values[:, None], pattern=pattern)[:, 0].astype(values.dtype)


def diagonals_of(pattern: Pattern) -> Any:
    """The diagonal that each place is on."""
    return pattern.columns - pattern.rows


def _fixed(numbers: Any, dtype: Any = np.int32) -> Any:
    """A copy of whole numbers that cannot be written to."""
    made = np.array(numbers, dtype)
    made.setflags(write=False)
    return made
