"""`tf.ragged`: rows of different lengths, as one tensor of all values and the places where rows end.

Gradients go through the values. There is one ragged axis, the second; axes behind it have one length each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.standins.names import missing
from gradtape.standins.tensorflow import elementwise, segments
from gradtape.standins.tensorflow.arrays import concat, convert_to_tensor
from gradtape.standins.tensorflow.conversion import Holder, integers, value_of
from gradtape.standins.tensorflow.errors import explained, in_tensorflow_terms, invalid
from gradtape.standins.tensorflow.reductions import reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_sum
from gradtape.standins.tensorflow.shapes import TensorShape
from gradtape.standins.tensorflow.tensor import wrap

_BY_ROW = {
    "reduce_sum": segments.unsorted_segment_sum,
    "reduce_mean": segments.unsorted_segment_mean,
    "reduce_max": segments.unsorted_segment_max,
    "reduce_min": segments.unsorted_segment_min,
    "reduce_prod": segments.unsorted_segment_prod,
}
_OF_ALL = {"reduce_sum": reduce_sum, "reduce_mean": reduce_mean, "reduce_max": reduce_max}
_OF_ALL |= {"reduce_min": reduce_min, "reduce_prod": reduce_prod}


class RaggedTensor:
    """Rows of different lengths.

    >>> from gradtape.standins import tensorflow as tf
    >>> rows = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
    >>> rows
    <tf.RaggedTensor [[1.0, 2.0], [], [3.0]]>
    >>> tf.reduce_sum(rows, axis=1).numpy()
    array([3., 0., 3.], dtype=float32)
    """

    def __init__(self, values: Any, row_splits: Any) -> None:
        self.values = convert_to_tensor(values)
        self._splits = np.asarray(row_splits, np.int64)
        if self._splits[0] != 0 or self._splits[-1] != len(self.values) or (np.diff(self._splits) < 0).any():
            raise invalid("RaggedTensor: row_splits begin with 0, never fall, and end with the number of values")

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any, name: Any = None, validate: bool = True) -> RaggedTensor:
        """Row n is values[row_splits[n]:row_splits[n + 1]]."""
        return cls(values, integers(row_splits))

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: Any, name: Any = None, validate: bool = True) -> RaggedTensor:
        """The rows one after the other, of these lengths."""
        return cls(values, np.concatenate([[0], np.cumsum(np.asarray(integers(row_lengths), np.int64))]))

    @classmethod
    def from_value_rowids(
        cls, values: Any, value_rowids: Any, nrows: Any = None, name: Any = None, validate: bool = True
    ) -> RaggedTensor:
        """For each value the number of its row, in order."""
        ids = np.asarray(integers(value_rowids), np.int64)
        count = integers(nrows) if nrows is not None else int(ids.max(initial=-1)) + 1
        return cls.from_row_lengths(values, np.bincount(ids, minlength=count).tolist())

    @classmethod
    def from_tensor(cls, tensor: Any, lengths: Any = None, padding: Any = None, name: Any = None) -> RaggedTensor:
        """The rows of a tensor, cut to `lengths`, or before what is only `padding`."""
        whole = convert_to_tensor(tensor)
        array = np.asarray(whole._value._concrete())
        sizes = [array.shape[1]] * len(array) if lengths is None else integers(lengths)
        if padding is not None:
            sizes = [int(np.flatnonzero(row != padding).max(initial=-1)) + 1 for row in array]
        return cls.from_row_lengths(concat([whole[n, :size] for n, size in enumerate(sizes)], 0), sizes)

    # -- what it is

    @property
    def row_splits(self) -> Any:
        """Where rows begin and end."""
        return wrap(gt.Tensor(self._splits))

    @property
    def flat_values(self) -> Any:
        """All values."""
        return self.values

    @property
    def dtype(self) -> Any:
        """The kind of number."""
        return self.values.dtype

    @property
    def shape(self) -> TensorShape:
        """The number of rows, None for their lengths, and the axes behind."""
        return TensorShape([self._count, None, *self.values.shape[1:]])

    ragged_rank = 1

    @property
    def _count(self) -> int:
        return len(self._splits) - 1

    def nrows(self, out_type: Any = None, name: Any = None) -> Any:
        """The number of rows."""
        return wrap(gt.Tensor(np.array(self._count, np.int64)))

    def row_lengths(self, axis: int = 1, name: Any = None) -> Any:
        """The length of each row."""
        return wrap(gt.Tensor(np.diff(self._splits)))

    def value_rowids(self, name: Any = None) -> Any:
        """For each value the number of its row."""
        return wrap(gt.Tensor(np.repeat(np.arange(self._count), np.diff(self._splits))))

    def bounding_shape(self, axis: Any = None, name: Any = None, out_type: Any = None) -> Any:
        """The shape of the tensor that holds all rows."""
        longest = int(np.diff(self._splits).max(initial=0))
        shape = np.array([self._count, longest, *self.values.shape[1:]], np.int64)
        return wrap(gt.Tensor(shape if axis is None else shape[axis]))

    def to_list(self) -> list[Any]:
        """The rows as lists."""
        array = np.asarray(self.values._value._concrete())
        return [array[a:b].tolist() for a, b in zip(self._splits[:-1], self._splits[1:])]

    def numpy(self) -> Any:
        """The rows as an array of arrays, or as one array if they have one length."""
        rows = [np.asarray(row._value._concrete()) for row in self]
        if len({len(row) for row in rows}) == 1:
            return np.stack(rows)
        made = np.empty(len(rows), object)
        made[:] = rows
        return made

    @in_tensorflow_terms
    def to_tensor(self, default_value: Any = None, name: Any = None, shape: Any = None) -> Any:
        """One tensor, with `default_value` (zero) behind rows that are shorter than the longest."""
        longest = int(np.diff(self._splits).max(initial=0))
        flat = value_of(self.values)
        size = (self._count, longest, *flat.shape[1:])
        fill = (b"" if flat.dtype == object else 0) if default_value is None else integers(default_value)
        places = (
            np.repeat(np.arange(self._count), np.diff(self._splits)),
            np.arange(len(flat)) - np.repeat(self._splits[:-1], np.diff(self._splits)),
        )
        if flat.dtype == object:
            made = np.full(size, fill, object)
            made[places] = flat._concrete()
            return wrap(gt.Tensor(made))
        return wrap(gt.at(gt.Tensor(np.full(size, fill, flat.dtype)))[places].set(flat))

    def __tf_tensor__(self) -> Any:
        raise ValueError(explained("a RaggedTensor is no tensor: its rows have different lengths", "rows.to_tensor()"))

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        return (self[n] for n in range(self._count))

    def __repr__(self) -> str:
        return f"<tf.RaggedTensor {self.to_list()}>"

    __str__ = __repr__

    # -- rows and parts of them

    @in_tensorflow_terms
    def __getitem__(self, index: Any) -> Any:
        rows, *inner = index if isinstance(index, tuple) else (index,)
        if isinstance(rows, slice):
            chosen = list(range(self._count))[rows]
            parts = [self[n][tuple(inner)] if inner else self[n] for n in chosen]
            if any(not isinstance(part, slice) for part in inner[:1]):
                raise invalid(
                    "RaggedTensor: a column cannot be taken from rows of different lengths", "rows.to_tensor()"
                )
            joined = concat(parts, 0) if parts else self.values[:0]
            return RaggedTensor.from_row_lengths(joined, [len(part) for part in parts])
        place = integers(rows)
        if not -self._count <= place < self._count:
            raise invalid(f"RaggedTensor: row {place} of {self._count}")
        place %= self._count
        row = self.values[int(self._splits[place]) : int(self._splits[place + 1])]
        return row[tuple(inner)] if inner else row

    # -- arithmetic, row by row

    def _with(self, values: Any) -> RaggedTensor:
        return RaggedTensor(values, self._splits)

    def _combined(self, operation: Callable[..., Any], other: Any, turned: bool = False) -> RaggedTensor:
        if isinstance(other, RaggedTensor):
            if not np.array_equal(self._splits, other._splits):
                raise invalid("RaggedTensor: the rows of the two have different lengths")
            other = other.values
        elif isinstance(other, Holder) and len(other.shape) > 1 and other.shape[0] == self._count:  # type: ignore[attr-defined]
            other = wrap(gt.take(value_of(other), np.repeat(np.arange(self._count), np.diff(self._splits)), 0))
            other = other[:, 0] if len(self.values.shape) == 1 else other
        return self._with(operation(other, self.values) if turned else operation(self.values, other))

    def __add__(self, other: Any) -> RaggedTensor:
        return self._combined(elementwise.add, other)

    def __radd__(self, other: Any) -> RaggedTensor:
        return self._combined(elementwise.add, other, turned=True)

    def __sub__(self, other: Any) -> RaggedTensor:
        return self._combined(elementwise.subtract, other)

    def __rsub__(self, other: Any) -> RaggedTensor:
        return self._combined(elementwise.subtract, other, turned=True)

    def __mul__(self, other: Any) -> RaggedTensor:
        return self._combined(elementwise.multiply, other)

    def __rmul__(self, other: Any) -> RaggedTensor:
        return self._combined(elementwise.multiply, other, turned=True)

    def __truediv__(self, other: Any) -> RaggedTensor:
        return self._combined(elementwise.divide, other)

    def __pow__(self, other: Any) -> RaggedTensor:
        return self._combined(elementwise.pow, other)

    def __neg__(self) -> RaggedTensor:
        return self._with(-self.values)

    def reduced(self, what: str, axis: Any, keepdims: bool) -> Any:
        """A reduction of all values, or of each row."""
        along = integers(axis)
        along = along[0] if isinstance(along, list) and len(along) == 1 else along
        if along is None:
            return _OF_ALL[what](self.values)
        if along not in (1, -1) or (along == -1 and len(self.values.shape) > 1) or keepdims:
            raise NotImplementedError(
                explained(f"tf.{what} of a RaggedTensor: axis=None or axis=1 is what this stand-in has", "to_tensor()")
            )
        return _BY_ROW[what](self.values, self.value_rowids(), self._count)


def constant(pylist: Any, dtype: Any = None, name: Any = None, **kwargs: Any) -> RaggedTensor:
    """Lists of different lengths as a RaggedTensor."""
    rows = [list(row) for row in pylist]
    flat = [value for row in rows for value in row]
    values = convert_to_tensor(flat, dtype or (None if flat else "float32"))
    return RaggedTensor.from_row_lengths(values, [len(row) for row in rows])


def stack(values: Any, axis: int = 0, name: Any = None) -> RaggedTensor:
    """Tensors with one axis, of different lengths, as the rows of a RaggedTensor."""
    parts = [convert_to_tensor(value) for value in values]
    return RaggedTensor.from_row_lengths(concat(parts, 0), [len(part) for part in parts])


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> RaggedTensor:
    """`op` of all values, in rows as they were."""
    first = next(arg for arg in args if isinstance(arg, RaggedTensor))
    return first._with(op(*(arg.values if isinstance(arg, RaggedTensor) else arg for arg in args), **kwargs))


__all__ = ["RaggedTensor", "constant", "map_flat_values", "stack"]
__getattr__ = missing(__name__)
