"""Which engine an `on=` means."""

from __future__ import annotations

from typing import Any

from gradtape.distributed.engines import Engine
from gradtape.distributed.mpi import RankEngine, is_communicator


def choose_engine(name: str, on: Any, arrays: list[Any]) -> Engine:
    """The engine of a call of `gt.distributed.<name>`: ranks of MPI for a communicator, Dask's for everything else."""
    if is_communicator(on):
        return RankEngine(name, on, arrays)
    return Engine(name, on, arrays)
