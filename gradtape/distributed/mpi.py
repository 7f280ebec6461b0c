"""Processes of MPI: `on=MPI.COMM_WORLD`, for short steps on many machines.

All ranks run the same program and make the same calls. A rank computes its share of the chunks; then the sums of
subtrees are exchanged by `allgather`, and each rank adds them up in the order of the tree. So every rank has the
answer, with the bits that it has on one process or on Dask; `Allreduce` would add in an order of its own. A rank that
fails tells the others in the same exchange: none of them waits for ever.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from gradtape.distributed.engines import Broadcast, Engine, Result, block_of, once_each, run_block
from gradtape.distributed.reduction import Part, TreeSum, aligned_ranges
from gradtape.distributed.rows import Blocks, Rows
from gradtape.distributed.shipping import Shipped
from gradtape.errors import GradTapeError, OperandError
from gradtape.extend import argument_error, import_library, leaves, report

T = TypeVar("T")
COMMUNICATOR = "mpi4py.MPI"


def is_communicator(on: Any) -> bool:
    """Whether `on` is a communicator of mpi4py; that is not imported for it."""
    return type(on).__module__ == COMMUNICATOR and hasattr(on, "allgather")


@dataclass
class Share:
    """What a rank sends to the others: its subtrees with their levels, or the error that ended them."""

    parameters: str
    """A hash of what has to be the same on all ranks."""
    subtrees: list[tuple[int, Result]] = field(default_factory=list)
    error: str | None = None


class RankEngine(Engine):
    """The ranks of a communicator. Chunks are dealt out evenly, in their order."""

    def __init__(self, name: str, on: Any, arrays: list[Any]) -> None:
        if on.Get_size() > 1 and on.Is_inter():
            raise argument_error(
                OperandError,
                f"gt.distributed.{name}: on= is an intercommunicator, which has two groups of ranks.",
                "an intracommunicator: MPI.COMM_WORLD, or comm.Merge()",
            )
        super().__init__(name, "synchronous", arrays)
        self.ranks, self.rank, self.size = on, on.Get_rank(), on.Get_size()
        self.is_first = self.rank == 0
        self.held: dict[int, list[Any]] | None = None
        """The chunks that this rank has read, by number, if they are held."""

    def threads(self) -> int:
        """On how many processes chunks are computed."""
        return int(self.size)

    def hold(self, rows: Rows) -> None:
        """Keep the chunks that this rank computes, from its first pass over them on."""
        self.held = {}

    def blocks(self, rows: Rows, size: int | None) -> Blocks:
        """Blocks of one chunk: which of them are computed together follows from the number of ranks."""
        return Blocks(rows, 1)

    def block_size(self, chunks: int) -> int:
        """One: ranks have their share of chunks without a scheduler, so there is nothing to save."""
        return 1

    def from_first(self, make: Callable[[], T]) -> T:
        """What `make` returns on the first rank, on all of them; an error there is raised on all."""
        found: Any = None
        error: BaseException | None = None
        if self.is_first:
            try:
                found = make()
            except Exception as raised:
                error = raised
        failure = self.ranks.bcast(None if error is None else _described(error), root=0)
        if error is not None:
            raise error
        if failure is not None:
            raise self._failed_elsewhere([(0, failure)])
        answer: T = self.ranks.bcast(found, root=0)
        return answer

    def run(self, label: str, program: Shipped, shared: Broadcast, blocks: Blocks, rows: Rows) -> Part:
        """The sum of what the program gives for all chunks, on every rank; the first one reports what was found."""
        share = Share(_digest([label, rows.lengths, leaves(shared.params), leaves(shared.extra), shared.others]))
        error: Exception | None = None
        try:
            share.subtrees = self._compute(label, program, shared, blocks, rows)
        except Exception as raised:
            error = raised
            share.error = _described(raised)
        shares: list[Share] = self.ranks.allgather(share)
        if error is not None:
            raise error
        failed = [(rank, each.error) for rank, each in enumerate(shares) if each.error is not None]
        if failed:
            raise self._failed_elsewhere(failed)
        others = [rank for rank, each in enumerate(shares) if each.parameters != shares[0].parameters]
        if others:
            raise argument_error(
                OperandError,
                f"gt.distributed.{self.name}: rank{'s' * (len(others) > 1)} {', '.join(map(str, others))} called with "
                "other parameters, arguments or rows than rank 0.",
                "the same call on all ranks: draw starting values with the same seed, or MPI.COMM_WORLD.bcast(params)",
            )
        total = TreeSum()
        for each in shares:
            for level, result in each.subtrees:
                total.add(result.part, level)
        if self.is_first:
            for found in once_each([x for each in shares for _, result in each.subtrees for x in result.problems]):
                report(found)
        return total.result()

    def _compute(
        self, label: str, program: Shipped, shared: Broadcast, blocks: Blocks, rows: Rows
    ) -> list[tuple[int, Result]]:
        """The subtrees of this rank's share: neighbouring chunks, as many as on the other ranks or one more."""
        count = len(blocks)
        start, stop = (count * rank // self.size for rank in (self.rank, self.rank + 1))
        found = []
        for begin, level in aligned_ranges(start, stop):
            chosen = blocks.select(list(range(begin, begin + (1 << level))), 1 << level)
            chunks = self._read(chosen) if chosen.are_tasks or self.held is not None else None
            found.append((level, run_block(program, shared, block_of(chosen, 0, rows), chunks)))
        return found

    def _read(self, block: Blocks) -> list[list[Any]]:
        """The chunks of one block; if chunks are held, those that were read before are not read again."""
        dask = import_library("dask", f"gt.distributed.{self.name}")
        kept = {} if self.held is None else self.held
        for number, names in zip(block.numbers[0], block.keys[0], strict=True):
            if number not in kept:
                kept[number] = [np.asarray(x) for x in dask.get(block.parts[0], names)]
        return [kept[number] for number in block.numbers[0]]

    def _failed_elsewhere(self, failed: list[tuple[int, str]]) -> GradTapeError:
        rank, text = failed[0]
        return argument_error(
            OperandError,
            f"gt.distributed.{self.name}: rank {rank} failed, so that there is no sum: {text}",
            "look at the error of that rank, which has its lines",
        )


def _described(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def _digest(values: Any) -> str:
    """A hash of numbers, the same for the same numbers on every rank."""
    total = hashlib.blake2b(digest_size=16)
    pending = [values]
    while pending:
        value = pending.pop()
        if isinstance(value, (list, tuple)):
            pending += value
        elif isinstance(value, (np.ndarray, np.generic)):
            total.update(f"{value.dtype}{value.shape}".encode() + np.ascontiguousarray(value).tobytes())
        else:
            total.update(pickle.dumps(value))
    return total.hexdigest()
