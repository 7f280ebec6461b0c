"""Where tasks run: Dask's threads in this process, a cluster by its client, or an executor; and the graph of a pass.

A pass over the rows is a graph of one task for each block of chunks. On a cluster, neighbouring results are added where
they are, eight at a time, so that the client gets one. Other engines (`mpi`, `shards`) compute blocks in their own way.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gradtape.distributed.reduction import Part, TreeSum, add_parts, weigh
from gradtape.distributed.rows import Blocks, Held, Recipe, Rows, fill_arguments
from gradtape.distributed.shipping import Shipped, one_thread
from gradtape.errors import GradTapeError, OperandError
from gradtape.extend import Problem, argument_error, collect_reports, import_library, report

T = TypeVar("T")
TASKS_PER_THREAD = 4
FAN = 8
"""How many results are added in a task; a power of two, so that each task adds up a subtree."""
PROBLEMS_AT_MOST = 20
PAUSED_AT = 0.8
"""The share of its memory at which a worker of Dask takes no more tasks, by default."""


@dataclass(frozen=True)
class Broadcast:
    """What is the same for all chunks: parameters, a vector or seeds, and the arguments that are not rows."""

    params: Any
    extra: Any
    form: Any
    others: list[Any]
    places: list[int]
    is_mean: bool
    jit: bool


@dataclass(frozen=True)
class Block:
    """Chunks that a task computes: their lengths, for which of them compiled, how they are read, and their numbers."""

    lengths: list[int]
    is_compiled: list[bool]
    recipe: Recipe | None
    numbers: list[int]


@dataclass
class Result:
    """The sum over some blocks, and what was found out on the way."""

    part: Part
    problems: list[Problem] = field(default_factory=list)


def run_block(program: Shipped, shared: Broadcast, block: Block, chunks: list[list[Any]] | None = None) -> Result:
    """Compute a block: the weighted sum over its chunks, which are read one after the other."""
    source = block.recipe if chunks is None else Held(chunks)
    assert source is not None
    total = TreeSum()
    with one_thread(), collect_reports() as kept:
        for number, (length, is_compiled) in enumerate(zip(block.lengths, block.is_compiled, strict=True)):
            args = fill_arguments(shared.form, shared.others, shared.places, source.read(number))
            chunk = block.numbers[number]
            arrays, form = program.content.run(shared.params, shared.extra, args, is_compiled and shared.jit, chunk)
            total.add(weigh(arrays, float(length) if shared.is_mean else 1.0, form))
            del args, arrays
    return Result(total.result(), once_each(kept.problems))


def add_results(results: list[Result]) -> Result:
    """The sum of the results of neighbouring blocks."""
    problems = once_each([problem for result in results for problem in result.problems])
    return Result(add_parts(result.part for result in results), problems)


def once_each(problems: list[Problem]) -> list[Problem]:
    """Problems, the first of each place; not too many, as they are sent along with results."""
    return list({problem.place: problem for problem in reversed(problems)}.values())[::-1][:PROBLEMS_AT_MOST]


def block_of(blocks: Blocks, number: int, rows: Rows) -> Block:
    """What a task has to know of one of the blocks."""
    lengths = blocks.lengths[number]
    compiled = [length in rows.compiled_lengths for length in lengths]
    return Block(lengths, compiled, None if blocks.are_tasks else blocks.recipes[number], blocks.numbers[number])


class Engine:
    """Something that runs graphs of tasks: `on` is None, a scheduler's name, a client of a cluster or an executor."""

    def __init__(self, name: str, on: Any, arrays: list[Any]) -> None:
        self.name = name
        dask = import_library("dask", f"gt.distributed.{name}")
        try:
            self.get: Callable[..., Any] = dask.base.get_scheduler(scheduler=on, collections=arrays)
        except (TypeError, ValueError, AttributeError, RuntimeError) as error:
            raise argument_error(
                OperandError,
                f"gt.distributed.{name}: on={on!r} is nothing that runs tasks of Dask: {error}.",
                'on=None for the current client, or threads; "threads", "synchronous", "processes"; a '
                "distributed.Client; an executor of concurrent.futures",
            ) from None
        owner = getattr(self.get, "__self__", None)
        self.client: Any = owner if type(owner).__module__.partition(".")[0] == "distributed" else None
        self.is_first = True
        """Whether this process is the one that shows progress, reports problems and stores files."""

    def threads(self) -> int:
        """On how many threads tasks run."""
        if self.client is not None:
            return max(1, int(sum(self.client.nthreads().values())))
        if getattr(self.get, "__name__", "") == "get_sync":
            return 1
        dask = import_library("dask", f"gt.distributed.{self.name}")
        return int(dask.config.get("num_workers", None) or os.cpu_count() or 1)

    def memory(self) -> int | None:
        """The memory of all workers of a cluster in bytes; None if it is not limited, or this is no cluster."""
        if self.client is None:
            return None
        limits = [worker["memory_limit"] for worker in self.client.scheduler_info(n_workers=-1)["workers"].values()]
        return sum(limits) if limits and all(limits) else None

    def from_first(self, make: Callable[[], T]) -> T:
        """What `make` returns, in the one of several equal processes that stores files; here there is one."""
        return make()

    def check_chunks(self, rows: Rows) -> None:
        """Raise if a chunk for each thread of a worker takes up the memory at which Dask pauses it."""
        if self.client is None:
            return
        largest = max(rows.lengths) * sum(int(x.nbytes) // rows.total for x in rows.arrays)
        for worker in self.client.scheduler_info(n_workers=-1)["workers"].values():
            limit, threads = worker["memory_limit"], max(1, int(worker["nthreads"]))
            if limit and largest * threads > PAUSED_AT * limit:
                fitting = max(1, int(max(rows.lengths) * limit / (8 * largest * threads)))
                raise argument_error(
                    OperandError,
                    f"gt.distributed.{self.name}: a chunk has {max(rows.lengths)} rows, {largest / 1e6:.0f} MB, and a "
                    f"worker has {limit / 1e6:.0f} MB for {threads} thread{'s' * (threads > 1)}: it would run out of "
                    "memory, as the chunk's intermediate values come on top.",
                    f"smaller chunks: X = X.rechunk(({fitting}, -1)); or workers with more memory or fewer threads",
                )

    def compute(self, values: list[Any]) -> list[Any]:
        """The numbers of Dask arrays."""
        dask = import_library("dask", f"gt.distributed.{self.name}")
        return list(dask.compute(*values, scheduler=self.get))

    def hold(self, rows: Rows) -> None:
        """Have the chunks of rows computed once, and kept in memory where they are."""
        dask = import_library("dask", f"gt.distributed.{self.name}")
        rows.arrays = list(dask.persist(*rows.arrays, scheduler=self.get))

    def blocks(self, rows: Rows, size: int | None) -> Blocks:
        """The chunks of rows in blocks of `size`; None: so many that there are some four for each thread."""
        return Blocks(rows, self.block_size(len(rows.numbers)) if size is None else size)

    def block_size(self, chunks: int) -> int:
        """How many chunks a task takes: so many that there are some four tasks for each thread."""
        size = 1
        while chunks > 2 * size * TASKS_PER_THREAD * self.threads():
            size *= 2
        return size

    def run(self, label: str, program: Shipped, shared: Broadcast, blocks: Blocks, rows: Rows) -> Part:
        """The sum of what the program gives for all chunks. Problems that were found are reported here, once each."""
        token = uuid.uuid4().hex
        function, given = f"{label}-function-{token}", f"{label}-parameters-{token}"
        graph: dict[Any, Any] = {**blocks.graph, function: program, given: shared}
        level: list[Any] = []
        for number in range(len(blocks)):
            key = (f"{label}-{token}", number)
            graph[key] = (run_block, function, given, block_of(blocks, number, rows))
            if blocks.are_tasks:
                graph[key] += (blocks.keys[number],)
            level.append(key)
        while self.client is not None and len(level) > FAN:
            above = [(f"{label}-sum-{len(level)}-{token}", number) for number in range(-(-len(level) // FAN))]
            graph.update({key: (add_results, level[FAN * n : FAN * n + FAN]) for n, key in enumerate(above)})
            level = above
        result = add_results(list(self._get(graph, level, blocks)))
        for problem in result.problems:
            report(problem)
        return result.part

    def _get(self, graph: dict[Any, Any], keys: list[Any], blocks: Blocks) -> Any:
        try:
            return self.get(graph, keys)
        except GradTapeError:
            raise
        except Exception as error:
            if type(error).__name__ != "KilledWorker":
                raise
            task = getattr(error, "task", None)
            number = task[1] if isinstance(task, tuple) and len(task) == 2 else None
            which = "a task"
            if isinstance(number, int):
                chunks = blocks.numbers[number]
                which = f"the task for the chunks {chunks[0]} to {chunks[-1]}"
                if chunks != list(range(chunks[0], chunks[-1] + 1)):
                    which = f"the task for the chunks {', '.join(map(str, chunks))}"
            raise argument_error(
                OperandError,
                f"gt.distributed.{self.name}: {which} ended the worker that ran it, again and again: mostly because a "
                "chunk and its intermediate values need more memory than a worker has.",
                "smaller chunks: X = X.rechunk((X.chunksize[0] // 4, -1)); or workers with more memory, or "
                "fewer threads in each",
            ) from error
