"""Which engine an `on=` means."""

from __future__ import annotations

from typing import Any

from gradtape.distributed.engines import Engine
from gradtape.distributed.mpi import RankEngine, is_communicator
from gradtape.distributed.shards import ShardEngine, Shards


def choose_engine(name: str, on: Any, arrays: list[Any]) -> Engine:
    """The engine of `gt.distributed.<name>`: actors for `Shards`, ranks of MPI for a communicator, else Dask's."""
    if isinstance(on, Shards):
        return ShardEngine(name, on, arrays)
    if is_communicator(on):
        return RankEngine(name, on, arrays)
    return Engine(name, on, arrays)
