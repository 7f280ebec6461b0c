"""Rows of Dask arrays: alignment, chunks, and how the numbers of a chunk reach the task that needs them.

The first Dask array decides about the chunks; others are cut like it. A task takes a block of neighbouring chunks and
reads them one after the other, by the culled graphs of these chunks (a `Recipe`): the scheduler knows of one task, and
one chunk is in memory. Where chunks share work, or are held by workers, they are tasks that the block depends on.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradtape.errors import OperandError, ShapeError
from gradtape.extend import argument_error, import_library, leaves, rebuild

COMPILED_LENGTHS = 8
"""For how many lengths of chunks a function is compiled: the most frequent ones. Chunks of others run as they are."""


def is_dask(value: Any) -> bool:
    """Whether a value is a Dask array; Dask is not imported for that."""
    kind = type(value)
    return kind.__module__.partition(".")[0] == "dask" and hasattr(kind, "chunks") and hasattr(kind, "__dask_graph__")


def is_dask_collection(value: Any) -> bool:
    """Whether a value has a graph of Dask's: an array, a dataframe, a bag, a delayed value, an array of xarray's."""
    return hasattr(type(value), "__dask_graph__") and value.__dask_graph__() is not None


@dataclass(frozen=True)
class Recipe:
    """The chunks of a block: the graph that makes them, and for each chunk the keys of its arrays."""

    graph: dict[Any, Any]
    keys: list[list[Any]]

    def read(self, number: int) -> list[Any]:
        """The arrays of a chunk."""
        dask = import_library("dask", "gt.distributed")
        return [np.asarray(x) for x in dask.get(self.graph, self.keys[number])]


@dataclass(frozen=True)
class Held:
    """The chunks of a block that are in memory: for each chunk its arrays."""

    arrays: list[list[Any]]

    def read(self, number: int) -> list[Any]:
        """The arrays of a chunk."""
        return [np.asarray(x) for x in self.arrays[number]]


class Rows:
    """The Dask arrays among the arguments of a call, cut alike, and their chunks that are not empty."""

    def __init__(self, name: str, args: tuple[Any, ...]) -> None:
        self.name, self.args = name, args
        given = leaves(args)
        self.places = [place for place, x in enumerate(given) if is_dask(x)]
        for place, x in enumerate(given):
            if place not in self.places and is_dask_collection(x):
                raise self._error(
                    OperandError,
                    f"an argument is a {type(x).__name__} with a graph of Dask's; Dask arrays are accepted.",
                    'frame["column"].to_dask_array(lengths=True) of a dataframe, dask.array.from_delayed(part, shape, '
                    "dtype) of a delayed value, x.data of an array of xarray's",
                )
        if not self.places:
            raise self._error(
                OperandError,
                "none of the arguments is a Dask array, so there are no rows to go over.",
                "dask.array.from_array(X, chunks=(10_000, -1)) for an array in memory, dask.array.from_zarr for one on "
                "disk; without Dask, the function of the same name in gradtape itself",
            )
        self.arrays = self._align([given[place] for place in self.places])
        lengths = self.arrays[0].chunks[0]
        self.numbers = [number for number, length in enumerate(lengths) if length]
        self.lengths = [int(lengths[number]) for number in self.numbers]
        self.total = sum(self.lengths)
        common = sorted(Counter(self.lengths).items(), key=lambda pair: (-pair[1], -pair[0]))
        self.compiled_lengths = {length for length, _ in common[:COMPILED_LENGTHS]}
        if not self.total:
            raise self._error(ShapeError, "the Dask arrays have no rows.", "at least one row")

    def _error(self, kind: Any, what: str, fix: str) -> Exception:
        return argument_error(kind, f"gt.distributed.{self.name}: {what}", fix)

    def _align(self, arrays: list[Any]) -> list[Any]:
        """The arrays with the chunks of the first along their first axis, and whole along the others."""
        for x in arrays:
            if not x.ndim:
                raise self._error(
                    ShapeError, "a Dask array has no axes; the first axis is the rows.", "float(x.compute()), broadcast"
                )
            if any(math.isnan(length) for axis in x.chunks for length in axis):
                raise self._error(
                    ShapeError,
                    f"the lengths of the chunks of a Dask array are not known (its shape is {x.shape}), and rows are "
                    "weighted by them.",
                    "x = x.compute_chunk_sizes(), once and before; to_dask_array(lengths=True) of a dataframe",
                )
        lengths = {x.shape[0] for x in arrays}
        if len(lengths) > 1:
            raise self._error(
                ShapeError,
                f"the Dask arrays have the shapes {', '.join(str(x.shape) for x in arrays)}; the first axis is the "
                "rows, the same number in all.",
                "arrays with a row for each example; what is the same for all rows is a NumPy array",
            )
        rows = arrays[0].chunks[0]
        wanted = [(rows, *((length,) for length in x.shape[1:])) for x in arrays]
        return [x if x.chunks == chunks else x.rechunk(chunks) for x, chunks in zip(arrays, wanted, strict=True)]

    @property
    def identity(self) -> tuple[Any, ...]:
        """What tells these rows from others: Dask names equal arrays alike."""
        return tuple(x.name for x in self.arrays)

    @property
    def nbytes(self) -> int:
        """The size of all rows in bytes."""
        return sum(int(x.nbytes) for x in self.arrays)

    @property
    def form(self) -> Any:
        """The structure of the arguments, with numbers in the places of all leaves."""
        return rebuild(self.args, list(range(len(leaves(self.args)))))

    def sample(self, rows: int) -> list[Any]:
        """The first rows of the arrays, as Dask arrays: those of leading chunks that are not empty."""
        return [x[: min(rows, self.total)] for x in self.arrays]

    def has_memmap(self) -> bool:
        """Whether a chunk is made of a `numpy.memmap`, which is sent to another process with all its numbers."""
        tasks = (task for x in self.arrays for task in dict(x.__dask_graph__()).values())
        return any(isinstance(getattr(task, "value", task), np.memmap) for task in tasks)


def fill_arguments(form: Any, others: list[Any], places: list[int], chunk: list[Any]) -> tuple[Any, ...]:
    """The arguments of the structure `form`: the rows of a chunk at `places`, and `others` elsewhere."""
    supply, rest = iter(chunk), iter(others)
    chosen = set(places)
    filled = [next(supply) if place in chosen else next(rest) for place in range(len(leaves(form)))]
    return tuple(rebuild(form, filled))


class Blocks:
    """The chunks of rows in blocks of `size`, a power of two, each with what brings its numbers to the task."""

    def __init__(self, rows: Rows, size: int) -> None:
        dask = import_library("dask", "gt.distributed")
        self.size = size
        arrays, graph = rows.arrays, _merged_graph(rows.arrays)
        held = any(map(_is_future, graph.values()))
        if not held:  # dask.optimize drops what workers hold
            arrays = dask.optimize(*arrays)
            graph = _merged_graph(arrays)
        keys = [[(x.name, number, *([0] * (x.ndim - 1))) for x in arrays] for number in rows.numbers]
        starts = range(0, len(keys), size)
        self.lengths = [rows.lengths[start : start + size] for start in starts]
        self.keys = [keys[start : start + size] for start in starts]
        self.numbers = [rows.numbers[start : start + size] for start in starts]
        self.parts = parts = [_cull(graph, [key for chunk in block for key in chunk]) for block in self.keys]
        uses = Counter(key for part in parts for key in part)
        shared = any(count > 1 and _is_work(graph[key]) for key, count in uses.items())
        self.are_tasks = held or shared
        """Whether chunks are tasks of their own, which blocks depend on, and not made in the task of their block."""
        self._divide()

    def __len__(self) -> int:
        return len(self.keys)

    def select(self, places: list[int], size: int) -> Blocks:
        """Some chunks, in this order, in blocks of `size`; these blocks have one chunk each."""
        chosen = [places[start : start + size] for start in range(0, len(places), size)]
        found: Blocks = object.__new__(Blocks)
        found.size, found.are_tasks = size, self.are_tasks
        found.lengths = [[self.lengths[place][0] for place in block] for block in chosen]
        found.keys = [[self.keys[place][0] for place in block] for block in chosen]
        found.numbers = [[self.numbers[place][0] for place in block] for block in chosen]
        found.parts = [{key: task for place in block for key, task in self.parts[place].items()} for block in chosen]
        found._divide()
        return found

    def _divide(self) -> None:
        """Put what brings the numbers into the graph, or into the recipe of each block."""
        self.graph: dict[Any, Any] = {}
        self.recipes: list[Recipe] = []
        if self.are_tasks:
            self.graph = {key: task for part in self.parts for key, task in part.items()}
        else:
            self.recipes = [Recipe(part, block) for part, block in zip(self.parts, self.keys, strict=True)]


def _merged_graph(arrays: Iterable[Any]) -> dict[Any, Any]:
    graph: dict[Any, Any] = {}
    for x in arrays:
        graph.update(dict(x.__dask_graph__()))
    return graph


def _cull(graph: dict[Any, Any], keys: Iterable[Any]) -> dict[Any, Any]:
    """The part of a graph that these keys need."""
    dask = import_library("dask", "gt.distributed")
    found: dict[Any, Any] = {}
    pending = list(keys)
    while pending:
        key = pending.pop()
        if key not in found:
            found[key] = graph[key]
            pending += dask.core.get_dependencies(graph, key)
    return found


def _is_future(task: Any) -> bool:
    return type(getattr(task, "value", task)).__module__.partition(".")[0] == "distributed"


def _is_work(task: Any) -> bool:
    """Whether a task of a graph computes something: not an array, an open file or another name for a task."""
    if isinstance(task, tuple):
        return bool(task) and callable(task[0])
    return callable(getattr(task, "func", None))
