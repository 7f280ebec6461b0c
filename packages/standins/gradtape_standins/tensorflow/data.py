"""`tf.data`: datasets as iterables that can be started again, with the usual steps between source and loop."""

from __future__ import annotations

import builtins
import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import concrete
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow import nest
from gradtape_standins.tensorflow.arrays import pad, stack
from gradtape_standins.tensorflow.conversion import Holder, integers, value_of
from gradtape_standins.tensorflow.errors import OutOfRangeError, explained, invalid
from gradtape_standins.tensorflow.execution_context import note_effect
from gradtape_standins.tensorflow.ragged import RaggedTensor
from gradtape_standins.tensorflow.ragged import stack as rows_of
from gradtape_standins.tensorflow.random import generator_for
from gradtape_standins.tensorflow.shapes import RaggedTensorSpec, TensorSpec
from gradtape_standins.tensorflow.tensor import wrap

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


def _as_tensors(structure: Any) -> Any:
    """Tensors in the place of numbers, arrays and lists of numbers; tuples and dictionaries stay."""
    if isinstance(structure, dict):
        return {key: _as_tensors(part) for key, part in structure.items()}
    if isinstance(structure, tuple):
        return tuple(_as_tensors(part) for part in structure)
    return structure if isinstance(structure, RaggedTensor) else wrap(value_of(structure))


def _spec_of_row(part: Any) -> TensorSpec:
    """What the rows of a tensor are like."""
    if isinstance(part, RaggedTensor):
        return RaggedTensorSpec(part.shape[1:], part.dtype, part.ragged_rank - 1)
    return TensorSpec(part.shape[1:], part.dtype)


class Dataset:
    """A sequence of elements (tensors, or tuples and dictionaries of them) that can be gone through again and again.

    >>> from gradtape_standins import tensorflow as tf
    >>> dataset = tf.data.Dataset.from_tensor_slices([1, 2, 3]).batch(2)
    >>> [batch.numpy().tolist() for batch in dataset]
    [[1, 2], [3]]
    """

    def __init__(self, start: Callable[[], Iterator[Any]], kind: str, count: int | None, spec: Any = None) -> None:
        self._start = start
        self._kind = kind
        self._count = count  # None: not known; -1: without end
        self._spec = spec

    # -- sources

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """One element for each place along the first axis."""
        parts = _as_tensors(tensors)
        sizes = {len(part) for part in nest.flatten(parts)}
        if len(sizes) != 1:
            raise ValueError(explained(f"from_tensor_slices: the first axes have different lengths: {sorted(sizes)}"))
        (count,) = sizes

        def start() -> Iterator[Any]:
            for place in builtins.range(count):
                yield nest.map_structure(lambda part, place=place: part[place], parts)

        spec = nest.map_structure(_spec_of_row, parts)
        return Dataset(start, "_TensorSliceDataset", count, spec)

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """One element."""
        parts = _as_tensors(tensors)
        return Dataset(lambda: iter([parts]), "_TensorDataset", 1, nest.map_structure(TensorSpec.from_tensor, parts))

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """What a generator yields, as tensors."""
        wanted = output_signature if output_signature is not None else output_types

        def converted(element: Any) -> Any:
            if wanted is None:
                return _as_tensors(element)
            return _converted(element, wanted)

        return Dataset(
            lambda: (converted(e) for e in generator(*(args or ()))), "_FlatMapDataset", None, output_signature
        )

    @staticmethod
    def range(*args: Any, output_type: Any = "int64", name: str | None = None) -> Dataset:
        """Integers, as Python's `range` has them."""
        numbers = builtins.range(*(integers(a) for a in args))
        return Dataset(
            lambda: (wrap(gt.Tensor(np.array(n, np.dtype(str(output_type))))) for n in numbers),
            "_RangeDataset",
            len(numbers),
            TensorSpec([], output_type),
        )

    @staticmethod
    def zip(*datasets: Any, name: str | None = None) -> Dataset:
        """Tuples of the elements of several datasets, as long as all have one."""
        given = datasets[0] if len(datasets) == 1 and isinstance(datasets[0], tuple) else datasets
        counts = [d._count for d in given]
        known = [c for c in counts if c is not None and c >= 0]
        count = None if None in counts else min(known) if known else -1
        return Dataset(lambda: builtins.zip(*given), "_ZipDataset", count)

    # -- going through it

    def __iter__(self) -> Iterator[Any]:
        return DatasetIterator(self, iter(self._start()))

    def as_numpy_iterator(self) -> Iterator[Any]:
        """The elements as arrays."""
        return (nest.map_structure(lambda x: x.numpy(), element) for element in self)

    def __len__(self) -> int:
        if self._count is None or self._count < 0:
            raise TypeError("The dataset is infinite." if self._count == -1 else "The dataset length is unknown.")
        return self._count

    def cardinality(self) -> Any:
        """How many elements there are; -1 without end, -2 if not known."""
        return wrap(gt.Tensor(np.array(-2 if self._count is None else self._count, np.int64)))

    def __bool__(self) -> bool:
        return True

    @property
    def element_spec(self) -> Any:
        """Shapes and dtypes of an element."""
        if self._spec is None:
            self._spec = nest.map_structure(TensorSpec.from_tensor, next(iter(self)))
        return self._spec

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """The last of the states that `reduce_func(state, element)` returns."""
        state = _as_tensors(initial_state)
        for element in self:
            state = reduce_func(state, element)
        return state

    # -- steps

    def map(
        self, map_func: Callable[..., Any], num_parallel_calls: Any = None, deterministic: Any = None, name: Any = None
    ) -> Dataset:
        """`map_func` of each element."""
        return Dataset(lambda: (_as_tensors(_called(map_func, e)) for e in self), "_MapDataset", self._count)

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements for which `predicate` is true."""
        return Dataset(lambda: (e for e in self if bool(_called(predicate, e))), "_FilterDataset", None, self._spec)

    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: Any = None,
    ) -> Dataset:
        """Elements stacked `batch_size` at a time; the last batch may be smaller, or is dropped."""
        size, kinds = integers(batch_size), self._spec
        first = size if drop_remainder else None

        def batch_spec(one: TensorSpec) -> TensorSpec:
            if isinstance(one, RaggedTensorSpec):
                return RaggedTensorSpec([first, *one.shape], one.dtype, one.ragged_rank + 1)
            return TensorSpec([first, *one.shape], one.dtype)

        return self._grouped(
            size,
            drop_remainder,
            lambda elements: _stacked(elements, kinds),
            "_BatchDataset",
            None if kinds is None else nest.map_structure(batch_spec, kinds),
        )

    def ragged_batch(
        self, batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = None, name: Any = None
    ) -> Dataset:
        """Elements of different lengths, `batch_size` at a time, as the rows of a RaggedTensor."""
        return self._grouped(
            integers(batch_size),
            drop_remainder,
            lambda elements: nest.map_structure(lambda *parts: rows_of(parts), *elements),
            "_RaggedBatchDataset",
        )

    def _grouped(
        self, size: int, drop_remainder: bool, joined: Callable[[list[Any]], Any], kind: str, spec: Any = None
    ) -> Dataset:
        """`size` elements at a time, joined; the last ones may be fewer, or are dropped."""

        def start() -> Iterator[Any]:
            waiting: list[Any] = []
            for element in self:
                waiting.append(element)
                if len(waiting) == size:
                    yield joined(waiting)
                    waiting = []
            if waiting and not drop_remainder:
                yield joined(waiting)

        count = self._count
        if count is not None and count >= 0:
            count = count // size if drop_remainder else -(-count // size)
        return Dataset(start, kind, count, spec)

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: Any = None,
    ) -> Dataset:
        """Elements stacked `batch_size` at a time, the shorter ones with `padding_values` (zeros) behind them.

        `padded_shapes` are shapes to pad to, None for the longest of the batch.
        """
        if any(isinstance(one, RaggedTensorSpec) for one in nest.flatten(self._spec)):
            raise TypeError(
                explained("`padded_batch` is only supported for datasets that produce tensor elements", "ragged_batch")
            )

        def joined(elements: list[Any]) -> Any:
            first = elements[0]
            shapes = nest.flatten_up_to(first, padded_shapes) if padded_shapes is not None else None
            fills = nest.flatten_up_to(first, padding_values) if isinstance(padding_values, tuple | dict) else None
            columns = builtins.zip(*(nest.flatten(element) for element in elements))
            return nest.pack_sequence_as(
                first,
                [
                    _padded(parts, fills[place] if fills else padding_values, shapes[place] if shapes else None)
                    for place, parts in enumerate(columns)
                ],
            )

        return self._grouped(integers(batch_size), drop_remainder, joined, "_PaddedBatchDataset")

    def window(
        self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: bool = False, name: Any = None
    ) -> Dataset:
        """Datasets of `size` elements each, that begin `shift` apart."""
        length, step, apart = integers(size), integers(shift) or integers(size), integers(stride)

        def start() -> Iterator[Any]:
            held = list(self)
            for begin in builtins.range(0, len(held), step):
                part = held[begin : begin + length * apart : apart]
                if len(part) == length or not drop_remainder:
                    yield Dataset(functools.partial(iter, part), "_VariantDataset", len(part), self._spec)

        return Dataset(start, "_WindowDataset", None)

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of the datasets that `map_func` makes of each element."""
        return Dataset(lambda: (inner for e in self for inner in _called(map_func, e)), "_FlatMapDataset", None)

    def interleave(
        self, map_func: Callable[..., Any], cycle_length: int | None = None, block_length: int = 1, **kwargs: Any
    ) -> Dataset:
        """The elements of the datasets that `map_func` makes of each element, in turn, `block_length` of each."""
        many = cycle_length or 1

        def start() -> Iterator[Any]:
            sources = iter(self)
            active = [iter(_called(map_func, e)) for _, e in builtins.zip(builtins.range(many), sources)]
            while active:
                for one in list(active):
                    block = list(itertools.islice(one, block_length))
                    yield from block
                    if len(block) < block_length:
                        place = active.index(one)
                        new = list(itertools.islice(sources, 1))
                        active[place : place + 1] = [iter(_called(map_func, e)) for e in new]

        return Dataset(start, "_InterleaveDataset", None)

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: Any = None,
        window_size_func: Callable[..., Any] | None = None,
        name: Any = None,
    ) -> Dataset:
        """What `reduce_func(key, elements)` makes of `window_size` elements of a key at a time."""

        def start() -> Iterator[Any]:
            waiting: dict[int, list[Any]] = {}
            spec = self._spec

            def closed(key: int) -> Any:
                held = waiting.pop(key)
                window = Dataset(lambda: iter(held), "_WindowDataset", len(held), spec)
                return reduce_func(wrap(gt.Tensor(np.array(key, np.int64))), window)

            for element in self:
                key = integers(_called(key_func, element))
                waiting.setdefault(key, []).append(element)
                size = integers(window_size if window_size_func is None else window_size_func(key))
                if len(waiting[key]) == size:
                    yield from closed(key)
            for key in list(waiting):
                yield from closed(key)

        return Dataset(start, "_GroupByWindowDataset", None)

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements before the first for which `predicate` is false."""
        return Dataset(
            lambda: itertools.takewhile(lambda e: bool(_called(predicate, e)), self),
            "_TakeWhileDataset",
            None,
            self._spec,
        )

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """What `scan_func(state, element)` gives beside each new state."""

        def start() -> Iterator[Any]:
            state = _as_tensors(initial_state)
            for element in self:
                state, output = scan_func(state, element)
                yield output

        return Dataset(start, "_ScanDataset", self._count)

    def unique(self, name: str | None = None) -> Dataset:
        """Each element the first time it is met."""

        def start() -> Iterator[Any]:
            seen = set()
            for element in self:
                key = element.numpy().tobytes() if element._value.dtype != object else element.numpy()
                if key not in seen:
                    seen.add(key)
                    yield element

        return Dataset(start, "_UniqueDataset", None, self._spec)

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset:
        """Every `num_shards`-th element, from `index` on."""
        many, first = integers(num_shards), integers(index)
        count = self._count if self._count in (None, -1) else len(builtins.range(first, self._count or 0, many))
        return Dataset(
            lambda: (e for n, e in builtins.enumerate(self) if n % many == first), "_ShardDataset", count, self._spec
        )

    def get_single_element(self, name: str | None = None) -> Any:
        """The only element."""
        found = list(self.take(2))
        if len(found) != 1:
            raise invalid(f"get_single_element: one element is wanted; there are {'none' if not found else 'more'}")
        return found[0]

    def unbatch(self, name: str | None = None) -> Dataset:
        """The slices of each element along the first axis."""

        def start() -> Iterator[Any]:
            for element in self:
                for place in builtins.range(len(nest.flatten(element)[0])):
                    yield nest.map_structure(lambda part, place=place: part[place], element)

        return Dataset(start, "_UnbatchDataset", None)

    def shuffle(
        self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool | None = None, name: Any = None
    ) -> Dataset:
        """In another order: each element is drawn from a buffer of the next `buffer_size`."""
        size = integers(buffer_size)
        again = reshuffle_each_iteration is None or reshuffle_each_iteration
        state: dict[str, Any] = {"seed": int(generator_for(seed).integers(2**31)), "round": 0}

        def start() -> Iterator[Any]:
            rng = np.random.default_rng([state["seed"], state["round"] if again else 0])
            state["round"] += 1
            buffer: list[Any] = []
            for element in self:
                buffer.append(element)
                if len(buffer) >= size:
                    yield buffer.pop(int(rng.integers(len(buffer))))
            while buffer:
                yield buffer.pop(int(rng.integers(len(buffer))))

        return Dataset(start, "_ShuffleDataset", self._count, self._spec)

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """Gone through `count` times, or without end."""
        times = integers(count)

        def start() -> Iterator[Any]:
            done = 0
            while times is None or times < 0 or done < times:
                yield from self
                done += 1

        endless = times is None or times < 0
        total = -1 if endless else None if self._count is None else self._count * times
        return Dataset(start, "_RepeatDataset", total, self._spec)

    def take(self, count: Any, name: str | None = None) -> Dataset:
        """The first `count` elements."""
        most = integers(count)

        def start() -> Iterator[Any]:
            for place, element in builtins.enumerate(self) if most else ():
                yield element
                if place + 1 == most:
                    return

        known = most if self._count == -1 else None if self._count is None else min(self._count, most)
        return Dataset(start, "_TakeDataset", known, self._spec)

    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """Without the first `count` elements."""
        most = integers(count)
        known = self._count if self._count in (None, -1) else max((self._count or 0) - most, 0)
        return Dataset(
            lambda: (e for place, e in builtins.enumerate(self) if place >= most), "_SkipDataset", known, self._spec
        )

    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset:
        """Pairs of a number and an element."""
        return Dataset(
            lambda: ((wrap(gt.Tensor(np.array(n, np.int64))), e) for n, e in builtins.enumerate(self, start)),
            "_ZipDataset",
            self._count,
        )

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """This one, then another."""

        def start() -> Iterator[Any]:
            yield from self
            yield from dataset

        both = None if self._count is None or dataset._count is None else self._count + dataset._count
        return Dataset(start, "_ConcatenateDataset", both, self._spec)

    def prefetch(self, buffer_size: Any = None, name: str | None = None) -> Dataset:
        """The same elements."""
        return Dataset(self._start, "_PrefetchDataset", self._count, self._spec)

    def cache(self, filename: str = "", name: str | None = None) -> Dataset:
        """The same elements, computed the first time only."""
        kept: list[Any] = []

        def start() -> Iterator[Any]:
            if not kept:
                kept.append(list(self))
            return iter(kept[0])

        return Dataset(start, "CacheDataset", self._count, self._spec)

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """What a function makes of this dataset."""
        return transformation_func(self)

    def __repr__(self) -> str:
        return f"<{self._kind} element_spec={self.element_spec!r}>"


def _converted(element: Any, wanted: Any) -> Any:
    """`element` as tensors of the dtypes in `wanted`, in its structure; lists are values, not structure."""
    if isinstance(wanted, dict):
        return {key: _converted(element[key], kind) for key, kind in wanted.items()}
    if isinstance(wanted, tuple | list):
        return tuple(_converted(part, kind) for part, kind in builtins.zip(element, wanted, strict=True))
    return wrap(value_of(element, getattr(wanted, "dtype", wanted)))


def _called(function: Callable[..., Any], element: Any) -> Any:
    return function(*element) if isinstance(element, tuple) else function(element)


def _stacked(elements: list[Any], kinds: Any = None) -> Any:
    """The elements as one; rows of a RaggedTensor become one again."""
    columns = builtins.zip(*(nest.flatten(element) for element in elements))
    ragged = [isinstance(kind, RaggedTensorSpec) for kind in nest.flatten(kinds)] if kinds is not None else []
    made = [
        rows_of(parts) if ragged and ragged[place] else stack(parts) for place, parts in builtins.enumerate(columns)
    ]
    return nest.pack_sequence_as(elements[0], made)


def _padded(parts: Any, value: Any, shape: Any = None) -> Any:
    """Tensors of different lengths stacked, with `value` behind the shorter ones."""
    most = [max(lengths) for lengths in builtins.zip(*(tuple(part.shape) for part in parts))]
    if shape is not None:
        wanted = [None if n in (None, -1) else integers(n) for n in shape]
        if len(wanted) != len(most) or any(n is not None and n < m for n, m in builtins.zip(wanted, most)):
            raise invalid(f"padded_batch: elements of up to {most} do not fit into the padded shape {wanted}")
        most = [m if n is None else n for n, m in builtins.zip(wanted, most)]
    fill = (b"" if parts[0]._value.dtype == object else 0) if value is None else integers(value)
    if not most:
        return stack(parts)
    if parts[0]._value.dtype == object:
        made = [np.full(most, fill, object) for _ in parts]
        for whole, part in builtins.zip(made, parts):
            whole[tuple(builtins.slice(n) for n in part.shape)] = concrete(part._value)
        return wrap(gt.Tensor(np.stack(made)))
    grown = [pad(p, [[0, n - m] for n, m in builtins.zip(most, p.shape)], constant_values=fill) for p in parts]
    return stack(grown)


def is_dataset(x: Any) -> bool:
    """Whether `x` gives batches by itself, rather than being an array."""
    return isinstance(x, Dataset) or (hasattr(x, "__iter__") and not isinstance(x, Holder | list | tuple | np.ndarray))


class DatasetIterator:
    """What `iter(dataset)` returns."""

    def __init__(self, dataset: Dataset, elements: Iterator[Any]) -> None:
        self._dataset, self._elements = dataset, elements

    def __iter__(self) -> DatasetIterator:
        return self

    def __next__(self) -> Any:
        note_effect("the next element of a dataset")
        return next(self._elements)

    def get_next(self) -> Any:
        """The next element; `tf.errors.OutOfRangeError` after the last."""
        for element in self:
            return element
        raise OutOfRangeError(None, None, explained("End of sequence", "a new iterator: iter(dataset)"))

    @property
    def element_spec(self) -> Any:
        """Shapes and dtypes of an element."""
        return self._dataset.element_spec


class experimental:
    """`tf.data.experimental`: old places of names."""

    AUTOTUNE = AUTOTUNE
    INFINITE_CARDINALITY = INFINITE_CARDINALITY
    UNKNOWN_CARDINALITY = UNKNOWN_CARDINALITY

    @staticmethod
    def cardinality(dataset: Dataset) -> Any:
        """How many elements there are."""
        return dataset.cardinality()


__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "experimental"]
__getattr__ = missing(__name__)
