"""`tf.data`: datasets as iterables that can be started again, with the usual steps between source and loop."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.standins.names import missing
from gradtape.standins.tensorflow import nest
from gradtape.standins.tensorflow.arrays import stack
from gradtape.standins.tensorflow.conversion import Holder, integers, value_of
from gradtape.standins.tensorflow.errors import explained
from gradtape.standins.tensorflow.random import generator_for
from gradtape.standins.tensorflow.shapes import TensorSpec
from gradtape.standins.tensorflow.tensor import wrap

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


def _as_tensors(structure: Any) -> Any:
    """Tensors in the place of numbers, arrays and lists of numbers; tuples and dictionaries stay."""
    if isinstance(structure, dict):
        return {key: _as_tensors(part) for key, part in structure.items()}
    if isinstance(structure, tuple):
        return tuple(_as_tensors(part) for part in structure)
    return wrap(value_of(structure))


class Dataset:
    """A sequence of elements (tensors, or tuples and dictionaries of them) that can be gone through again and again.

    >>> from gradtape.standins import tensorflow as tf
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

        spec = nest.map_structure(lambda part: TensorSpec(part.shape[1:], part.dtype), parts)
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
            kinds = nest.map_structure(lambda one: getattr(one, "dtype", one), wanted)
            if not nest.is_nested(kinds):
                return wrap(value_of(element, kinds))
            return nest.map_structure(lambda kind, part: wrap(value_of(part, kind)), kinds, element)

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
        return iter(self._start())

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
        size = integers(batch_size)

        def start() -> Iterator[Any]:
            waiting = []
            for element in self:
                waiting.append(element)
                if len(waiting) == size:
                    yield _stacked(waiting)
                    waiting = []
            if waiting and not drop_remainder:
                yield _stacked(waiting)

        count = self._count
        if count is not None and count >= 0:
            count = count // size if drop_remainder else -(-count // size)
        spec = self._spec
        if spec is not None:
            first = size if drop_remainder else None
            spec = nest.map_structure(lambda one: TensorSpec([first, *one.shape], one.dtype), spec)
        return Dataset(start, "_BatchDataset", count, spec)

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


def _called(function: Callable[..., Any], element: Any) -> Any:
    return function(*element) if isinstance(element, tuple) else function(element)


def _stacked(elements: list[Any]) -> Any:
    return nest.map_structure(lambda *parts: stack(parts), *elements)


def is_dataset(x: Any) -> bool:
    """Whether `x` gives batches by itself, rather than being an array."""
    return isinstance(x, Dataset) or (hasattr(x, "__iter__") and not isinstance(x, Holder | list | tuple | np.ndarray))


__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset"]
__getattr__ = missing(__name__)
