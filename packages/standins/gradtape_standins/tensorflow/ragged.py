"""`tf.ragged`: rows of different lengths, as one tensor of all values and the places where rows end.

Gradients go through the values. Where these are ragged themselves there are several ragged axes; axes behind them have
one length each.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import concrete
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow import elementwise, segments
from gradtape_standins.tensorflow.arrays import cast, concat, convert_to_tensor
from gradtape_standins.tensorflow.conversion import Holder, integers, value_of
from gradtape_standins.tensorflow.errors import NotDense, check_supported, explained, in_tensorflow_terms, invalid
from gradtape_standins.tensorflow.gather_and_sort import gather
from gradtape_standins.tensorflow.reductions import (
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
)
from gradtape_standins.tensorflow.shapes import TensorShape
from gradtape_standins.tensorflow.tensor import wrap

_BY_ROW = {
    "reduce_sum": segments.unsorted_segment_sum,
    "reduce_max": segments.unsorted_segment_max,
    "reduce_min": segments.unsorted_segment_min,
    "reduce_prod": segments.unsorted_segment_prod,
}
_OF_ALL = {"reduce_sum": reduce_sum, "reduce_mean": reduce_mean, "reduce_max": reduce_max}
_OF_ALL |= {"reduce_min": reduce_min, "reduce_prod": reduce_prod, "reduce_any": reduce_any, "reduce_all": reduce_all}


class RaggedTensor:
    """Rows of different lengths.

    >>> from gradtape_standins import tensorflow as tf
    >>> rows = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
    >>> rows
    <tf.RaggedTensor [[1.0, 2.0], [], [3.0]]>
    >>> tf.reduce_sum(rows, axis=1).numpy()
    array([3., 0., 3.], dtype=float32)
    """

    def __init__(self, values: Any, row_splits: Any) -> None:
        self.values: Any = values if isinstance(values, RaggedTensor) else convert_to_tensor(values)
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
        array = np.asarray(concrete(whole._value))
        sizes = [array.shape[1]] * len(array) if lengths is None else integers(lengths)
        if padding is not None:
            sizes = [int(np.flatnonzero(row != padding).max(initial=-1)) + 1 for row in array]
        return cls.from_row_lengths(concat([whole[n, :size] for n, size in enumerate(sizes)], 0), sizes)

    @classmethod
    def from_sparse(cls, st_input: Any, name: Any = None, row_splits_dtype: Any = None) -> RaggedTensor:
        """The rows of a `tf.SparseTensor` whose elements stand at the beginning of its rows."""
        places = np.asarray(concrete(st_input.indices._value))
        lengths = np.bincount(places[:, 0], minlength=st_input.shape[0])
        rows = cls.from_row_lengths(st_input.values, lengths.tolist())
        if not np.array_equal(rows._columns(), places[:, 1]):
            raise invalid("RaggedTensor.from_sparse: the SparseTensor is not right-ragged: its rows have holes")
        return rows

    # -- what it is

    @property
    def row_splits(self) -> Any:
        """Where rows begin and end."""
        return wrap(gt.Tensor(self._splits))

    @property
    def flat_values(self) -> Any:
        """All values, as one tensor."""
        return self.values.flat_values if isinstance(self.values, RaggedTensor) else self.values

    @property
    def dtype(self) -> Any:
        """The kind of number."""
        return self.values.dtype

    @property
    def shape(self) -> TensorShape:
        """The number of rows, None for their lengths, and the axes behind."""
        return TensorShape([self._count, None, *self.values.shape[1:]])

    def get_shape(self) -> TensorShape:
        """The number of rows, None for their lengths, and the axes behind."""
        return self.shape

    @property
    def ragged_rank(self) -> int:
        """How many ragged axes there are."""
        return 1 + (self.values.ragged_rank if isinstance(self.values, RaggedTensor) else 0)

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """Where rows begin and end, for each ragged axis."""
        inner = self.values.nested_row_splits if isinstance(self.values, RaggedTensor) else ()
        return (self.row_splits, *inner)

    def row_starts(self, name: Any = None) -> Any:
        """Where rows begin."""
        return wrap(gt.Tensor(self._splits[:-1]))

    def row_limits(self, name: Any = None) -> Any:
        """Where rows end."""
        return wrap(gt.Tensor(self._splits[1:]))

    @property
    def _count(self) -> int:
        return len(self._splits) - 1

    def nrows(self, out_type: Any = None, name: Any = None) -> Any:
        """The number of rows."""
        return wrap(gt.Tensor(np.array(self._count, np.int64)))

    def row_lengths(self, axis: int = 1, name: Any = None) -> Any:
        """The length of each row."""
        check_supported("row_lengths", "rt.values.row_lengths()", axis=(axis, 1))
        return wrap(gt.Tensor(np.diff(self._splits)))

    def value_rowids(self, name: Any = None) -> Any:
        """For each value the number of its row."""
        return wrap(gt.Tensor(self._rows()))

    def _rows(self) -> Any:
        return np.repeat(np.arange(self._count), np.diff(self._splits))

    def _columns(self) -> Any:
        """For each value its place in its row."""
        return np.arange(self._splits[-1]) - np.repeat(self._splits[:-1], np.diff(self._splits))

    def bounding_shape(self, axis: Any = None, name: Any = None, out_type: Any = None) -> Any:
        """The shape of the tensor that holds all rows."""
        longest = int(np.diff(self._splits).max(initial=0))
        shape = np.array([self._count, longest, *self.values.shape[1:]], np.int64)
        return wrap(gt.Tensor(shape if axis is None else shape[axis]))

    def to_list(self) -> list[Any]:
        """The rows as lists."""
        inner = self.values.to_list() if isinstance(self.values, RaggedTensor) else concrete(self.values._value)
        rows = [inner[a:b] for a, b in zip(self._splits[:-1], self._splits[1:])]
        return [row if isinstance(row, list) else row.tolist() for row in rows]

    def numpy(self) -> Any:
        """The rows as an array of arrays, or as one array if they have one length."""
        inner = self.values.numpy()
        rows = [inner[a:b] for a, b in zip(self._splits[:-1], self._splits[1:])]
        if not rows:
            return np.zeros((0, 0, *inner.shape[1:]), inner.dtype)
        if len({row.shape for row in rows}) == 1:
            return np.stack(rows)
        made = np.empty(len(rows), object)
        made[:] = rows
        return made

    @in_tensorflow_terms
    def to_tensor(self, default_value: Any = None, name: Any = None, shape: Any = None) -> Any:
        """One tensor, with `default_value` (zero) behind rows that are shorter than the longest."""
        check_supported("to_tensor", "tf.pad, or a slice, of to_tensor()", shape=(shape, None))
        longest = int(np.diff(self._splits).max(initial=0))
        nested = isinstance(self.values, RaggedTensor)
        flat = value_of(self.values.to_tensor(default_value) if nested else self.values)
        size = (self._count, longest, *flat.shape[1:])
        fill = (b"" if flat.dtype == object else 0) if default_value is None else integers(default_value)
        places = (self._rows(), self._columns())
        if flat.dtype == object:
            made = np.full(size, fill, object)
            made[places] = concrete(flat)
            return wrap(gt.Tensor(made))
        return wrap(gt.at(gt.Tensor(np.full(size, fill, flat.dtype)))[places].set(flat))

    def to_sparse(self, name: Any = None) -> Any:
        """The rows of a `tf.SparseTensor`."""
        from gradtape_standins.tensorflow.sparse import SparseTensor

        places = np.stack([self._rows(), self._columns()], axis=1)
        return SparseTensor(places, self.values, self.bounding_shape())

    def __tf_tensor__(self) -> Any:
        raise NotDense(
            self, explained("a RaggedTensor is no tensor: its rows have different lengths", "rows.to_tensor()")
        )

    def applied(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """What a function of tensors gives for rows of different lengths, if it can take them."""
        name = function.__name__
        if name in _BY_ROWS:
            return _BY_ROWS[name](*args, **kwargs)
        if name not in _BY_VALUE:
            raise ValueError(
                explained(f"tf.{name} of a RaggedTensor is not in this stand-in", "rows.to_tensor(), or rows.values")
            )
        return self.with_flat_values(
            function(*(self._beside(arg) for arg in args), **{n: self._beside(arg) for n, arg in kwargs.items()})
        )

    def _beside(self, other: Any) -> Any:
        """What stands beside each of the flat values when `other` is combined with this."""
        if isinstance(other, RaggedTensor):
            if not _same_rows(self, other):
                raise invalid("RaggedTensor: the rows of the two have different lengths")
            return other.flat_values
        if isinstance(other, Holder) and len(other.shape) > 1 and other.shape[0] == self._count:  # type: ignore[attr-defined]
            if isinstance(self.values, RaggedTensor):
                raise invalid("RaggedTensor: a tensor with rows, beside one with several ragged axes")
            other = wrap(gt.take(value_of(other), self._rows(), 0))
            return other[:, 0] if len(self.values.shape) == 1 else other
        return other

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        return (self[n] for n in builtins.range(self._count))

    def __repr__(self) -> str:
        with np.printoptions(formatter={"all": _text}):
            return f"<tf.RaggedTensor {_text(self.numpy())}>"

    __str__ = __repr__

    # -- rows and parts of them

    @in_tensorflow_terms
    def __getitem__(self, index: Any) -> Any:
        rows, *inner = index if isinstance(index, tuple) else (index,)
        if isinstance(rows, slice):
            chosen = np.arange(self._count)[rows].tolist()
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

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Rows as these, of other values."""
        return RaggedTensor(new_values, self._splits)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """Rows as these, of other values, which are one tensor."""
        inner = self.values.with_flat_values(new_values) if isinstance(self.values, RaggedTensor) else new_values
        return RaggedTensor(inner, self._splits)

    def _combined(self, operation: Callable[..., Any], other: Any, turned: bool = False) -> RaggedTensor:
        beside = self._beside(other)
        mine = self.flat_values
        return self.with_flat_values(operation(beside, mine) if turned else operation(mine, beside))

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

    def __rtruediv__(self, other: Any) -> RaggedTensor:
        return self._combined(elementwise.divide, other, turned=True)

    def __mod__(self, other: Any) -> RaggedTensor:
        return self._combined(elementwise.floormod, other)

    def __floordiv__(self, other: Any) -> RaggedTensor:
        return self._combined(elementwise.floordiv, other)

    def __lt__(self, other: Any) -> RaggedTensor:
        return self._combined(elementwise.less, other)

    def __le__(self, other: Any) -> RaggedTensor:
        return self._combined(elementwise.less_equal, other)

    def __gt__(self, other: Any) -> RaggedTensor:
        return self._combined(elementwise.greater, other)

    def __ge__(self, other: Any) -> RaggedTensor:
        return self._combined(elementwise.greater_equal, other)

    def __eq__(self, other: object) -> Any:
        return False if other is None else self._combined(elementwise.equal, other)

    def __ne__(self, other: object) -> Any:
        return True if other is None else self._combined(elementwise.not_equal, other)

    __hash__ = None  # type: ignore[assignment]

    def __and__(self, other: Any) -> RaggedTensor:
        return self._combined(elementwise.logical_and, other)

    def __or__(self, other: Any) -> RaggedTensor:
        return self._combined(elementwise.logical_or, other)

    def __invert__(self) -> RaggedTensor:
        return self.with_flat_values(~self.flat_values)

    def __neg__(self) -> RaggedTensor:
        return self.with_flat_values(-self.flat_values)

    def __abs__(self) -> RaggedTensor:
        return self.with_flat_values(abs(self.flat_values))

    def reduced(self, what: str, axis: Any, keepdims: bool) -> Any:
        """A reduction of all values, or of each row."""
        along = integers(axis)
        along = along[0] if isinstance(along, list) and len(along) == 1 else along
        if along is None:
            return _OF_ALL[what](self.flat_values)
        if not isinstance(along, int) or keepdims:
            raise NotImplementedError(
                explained(f"tf.{what} of a RaggedTensor: one axis, and no keepdims, is what this stand-in has")
            )
        along = along + len(self.shape) if along < 0 else along
        if what in ("reduce_any", "reduce_all"):
            chosen = "reduce_max" if what == "reduce_any" else "reduce_min"
            found = self.with_flat_values(cast(self.flat_values, "int32")).reduced(chosen, along, keepdims)
            return found > 0
        if along > 1:
            if isinstance(self.values, RaggedTensor):
                return self.with_values(self.values.reduced(what, along - 1, keepdims))
            return self.with_values(_OF_ALL[what](self.values, axis=along - 1))
        if isinstance(self.values, RaggedTensor):
            raise NotImplementedError(
                explained(f"tf.{what}: of several ragged axes the last ones can be reduced", "to_tensor()")
            )
        ids, count = (self._rows(), self._count) if along else (self._columns(), int(self.bounding_shape(1)))
        if what == "reduce_mean":  # of no values at all it is NaN, as 0 / 0 is
            with np.errstate(invalid="ignore"):
                sizes = np.bincount(ids, minlength=count).reshape(-1, *(1,) * (len(self.values.shape) - 1))
                total = value_of(segments.unsorted_segment_sum(self.values, wrap(gt.Tensor(ids)), count))
                return wrap(total / sizes.astype(total.dtype))
        return _BY_ROW[what](self.values, wrap(gt.Tensor(ids)), count)


def _text(x: Any) -> str:
    """How TensorFlow writes a part of a RaggedTensor."""
    if not isinstance(x, np.ndarray):
        return str(x)
    return np.array2string(x, separator=", ") if x.size else repr(x.tolist())


def _same_rows(a: Any, b: Any) -> bool:
    """Whether two have rows of the same lengths."""
    if isinstance(a, RaggedTensor) is not isinstance(b, RaggedTensor):
        return False
    return not isinstance(a, RaggedTensor) or (np.array_equal(a._splits, b._splits) and _same_rows(a.values, b.values))


def _gathered(params: Any, indices: Any, *args: Any, **kwargs: Any) -> Any:
    """Rows of a RaggedTensor, or rows of a tensor for each of ragged indices."""
    if not isinstance(params, RaggedTensor):
        return indices.with_flat_values(gather(params, indices.flat_values, *args, **kwargs))
    places = np.asarray(concrete(value_of(indices)))
    starts, ends = params._splits[places], params._splits[places + 1]
    return _picked(params.values, [np.arange(a, b) for a, b in zip(starts.ravel(), ends.ravel())])


def _picked(values: Any, rows: list[Any]) -> RaggedTensor:
    """Rows that consist of the values at these places."""
    places = np.concatenate([np.zeros(0, np.int64), *rows]).astype(np.int64)
    picked = (
        _gathered(values, places) if isinstance(values, RaggedTensor) else wrap(gt.take(value_of(values), places, 0))
    )
    return RaggedTensor.from_row_lengths(picked, [len(row) for row in rows])


def _joined(values: Any, axis: Any, name: Any = None) -> RaggedTensor:
    """RaggedTensors one below the other, or row beside row."""
    parts = [part if isinstance(part, RaggedTensor) else _rows_of(part) for part in values]
    along = integers(axis)
    if along not in (0, 1) or any(isinstance(part.values, RaggedTensor) for part in parts):
        raise NotImplementedError(
            explained("tf.concat of RaggedTensors: axis 0 or 1, of one ragged axis", "to_tensor()")
        )
    joined = concat([part.values for part in parts], 0)
    first = np.concatenate([[0], np.cumsum([len(part.values) for part in parts])])
    places = [
        [np.arange(a, b) + start for a, b in zip(part._splits[:-1], part._splits[1:])]
        for part, start in zip(parts, first)
    ]
    if along == 0:
        return _picked(joined, [row for rows in places for row in rows])
    if len({len(rows) for rows in places}) > 1:
        raise invalid("tf.concat: RaggedTensors of different numbers of rows, along axis 1")
    return _picked(joined, [np.concatenate(rows) for rows in zip(*places)])


def _rows_of(tensor: Any) -> RaggedTensor:
    return constant(tensor) if isinstance(tensor, list) else RaggedTensor.from_tensor(tensor)


def _tiled(input: Any, multiples: Any, name: Any = None) -> RaggedTensor:
    """Rows repeated, each made of repeats of itself."""
    down, across = integers(multiples)[:2]
    rows = [np.tile(np.arange(a, b), across) for a, b in zip(input._splits[:-1], input._splits[1:])]
    return _picked(input.values, rows * down)


_BY_ROWS: dict[str, Callable[..., Any]] = {
    "gather": _gathered,
    "embedding_lookup": lambda params, ids, max_norm=None, name=None: _gathered(params, ids),
    "concat": _joined,
    "tile": _tiled,
    "size": lambda input, out_type=None, name=None: wrap(gt.Tensor(np.array(input.flat_values._value.size, np.int32))),
    "rank": lambda input, name=None: wrap(gt.Tensor(np.array(len(input.shape), np.int32))),
}
"""What functions that look at rows do."""

_BY_VALUE = frozenset(elementwise.__all__) | {
    *(
        "cast",
        "crelu",
        "elu",
        "gelu",
        "identity",
        "leaky_relu",
        "ones_like",
        "relu",
        "relu6",
        "selu",
        "sigmoid",
        "silu",
    ),
    *("as_string", "dropout", "stop_gradient", "where", "zeros_like"),
}
"""The names of the functions that take each value by itself."""


def constant(pylist: Any, dtype: Any = None, ragged_rank: Any = None, name: Any = None, **kwargs: Any) -> RaggedTensor:
    """Lists of different lengths as a RaggedTensor."""
    check_supported("tf.ragged.constant", **{key: (given, None) for key, given in kwargs.items()})
    check_supported("tf.ragged.constant", ragged_rank=(ragged_rank, None, _depth(pylist)))
    rows = [list(row) for row in pylist]
    flat = [value for row in rows for value in row]
    if any(isinstance(value, list | tuple) for value in flat):
        return RaggedTensor.from_row_lengths(constant(flat, dtype), [len(row) for row in rows])
    values = convert_to_tensor(flat, dtype or (None if flat else "float32"))
    return RaggedTensor.from_row_lengths(values, [len(row) for row in rows])


def _depth(rows: Any) -> int:
    """How many of the axes of nested lists have rows of different lengths, or may have."""
    inner = [row for row in rows if isinstance(row, list | tuple)]
    return max((1 + _depth(row) for row in inner), default=0) if inner else 0


def stack(values: Any, axis: int = 0, name: Any = None) -> RaggedTensor:
    """Tensors with one axis, of different lengths, as the rows of a RaggedTensor."""
    check_supported("tf.ragged.stack", axis=(axis, 0))
    parts = [convert_to_tensor(value) for value in values]
    return RaggedTensor.from_row_lengths(concat(parts, 0), [len(part) for part in parts])


def range(starts: Any, limits: Any = None, deltas: Any = 1, dtype: Any = None, name: Any = None) -> RaggedTensor:
    """A row from each of `starts` up to its limit; from 0, if only limits are given."""
    first, last = (0, starts) if limits is None else (starts, limits)
    kind = value_of(starts if limits is None else limits).dtype if dtype is None else dtype
    bounds = np.broadcast_arrays(*(np.atleast_1d(concrete(value_of(x))) for x in (first, last, deltas)))
    return constant([np.arange(*bound).tolist() for bound in zip(*bounds)], dtype=kind)


def boolean_mask(data: Any, mask: Any, name: Any = None) -> RaggedTensor:
    """What is left of each row."""
    rows = data if isinstance(data, RaggedTensor) else RaggedTensor.from_tensor(data)
    marks = mask if isinstance(mask, RaggedTensor) else RaggedTensor.from_tensor(mask)
    if not _same_rows(rows, marks):
        raise invalid("tf.ragged.boolean_mask: the mask has other rows than the data")
    kept = np.asarray(concrete(marks.values._value))
    spans = zip(rows._splits[:-1], rows._splits[1:])
    return _picked(rows.values, [np.arange(a, b)[kept[a:b]] for a, b in spans])


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> RaggedTensor:
    """`op` of all values, in rows as they were."""
    first = next(arg for arg in args if isinstance(arg, RaggedTensor))
    flat = (arg.flat_values if isinstance(arg, RaggedTensor) else arg for arg in args)
    return first.with_flat_values(op(*flat, **kwargs))


__all__ = ["RaggedTensor", "boolean_mask", "constant", "map_flat_values", "range", "stack"]
__getattr__ = missing(__name__)
