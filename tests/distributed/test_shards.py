"""Shards: actors that hold chunks, on a real cluster of processes, with workers lost and added."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape import distributed as gd
from gradtape.distributed import shards
from gradtape.distributed.engines import Result
from gradtape.distributed.reduction import TreeSum, aligned_ranges, weigh
from tests.distributed import mpi_program

distributed = pytest.importorskip("distributed", reason="distributed is not installed: nothing is tested on a cluster")

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
WAIT = 120  # seconds, at most, for a worker or an answer
W = mpi_program.W


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """The client of a cluster of three workers, which find the modules of the tests."""
    options = {"n_workers": 3, "threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": "800MB"}
    with (
        distributed.LocalCluster(processes=True, silence_logs=logging.CRITICAL, **options) as cluster,
        distributed.Client(cluster, timeout=WAIT) as client,
    ):
        yield client


def by_value(function: Any) -> Any:
    """The same function, of a module that workers cannot import."""
    function.__module__ = "__main__"
    return function


@pytest.mark.parametrize("count", [1, 5, 8, 21])
@pytest.mark.parametrize("holders", [1, 2, 3, 7])
def test_sums_of_shares_are_the_sum_of_the_tree(count: int, holders: int) -> None:
    """However the chunks are dealt out, joining the subtrees of the shares gives the bits of the whole tree."""
    numbers = np.random.default_rng(count).normal(size=count) * 10.0 ** np.arange(count)
    whole = TreeSum()
    for x in numbers:
        whole.add(weigh([x], 1.0, 0))
    found = []
    for holder in range(holders):
        for begin, level in aligned_ranges(count * holder // holders, count * (holder + 1) // holders):
            part = TreeSum()
            for x in numbers[begin : begin + (1 << level)]:
                part.add(weigh([x], 1.0, 0))
            found.append(shards.Subtree(begin, level, Result(part.result())))
    total = TreeSum()
    for subtree in shards.joined(found[::-1]):
        total.add(subtree.result.part, subtree.level)
    assert float(total.result().arrays[0]) == float(whole.result().arrays[0])


@pytest.mark.parametrize("fan", [1, 32])
def test_bits_are_those_of_one_process(client: Any, fan: int) -> None:
    """Gradients, products, chunks of shared work and of one block, and training with dropout: the same bits."""
    on = gd.Shards(client, fan=fan)
    assert mpi_program.gradients(on) == mpi_program.gradients("synchronous")
    if fan > 1:
        assert mpi_program.training(on) == mpi_program.training("synchronous")


def test_workers_that_are_lost_and_that_join(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers at the root and at a leaf of the tree are killed, and one joins: the same bits."""
    monkeypatch.setattr(shards, "LOOKED_AFTER", 0.0)
    on = gd.Shards()
    f = gd.value_and_grad(mpi_program.logistic, on=on, hold=True)
    expected = mpi_program.digest(*gd.value_and_grad(mpi_program.logistic, on="synchronous")(W, *mpi_program.rows()))
    assert mpi_program.digest(*f(W, *mpi_program.rows())) == expected
    for place in (0, -1):
        client.wait_for_workers(2, timeout=WAIT)
        f(W + 1.0, *mpi_program.rows())
        os.kill(client.run(os.getpid)[sorted(on.actors)[place]], signal.SIGKILL)
        assert mpi_program.digest(*f(W, *mpi_program.rows())) == expected
    client.cluster.scale(4)
    client.wait_for_workers(4, timeout=WAIT)
    assert mpi_program.digest(*f(W, *mpi_program.rows())) == expected
    assert len(on.actors) == 4


def test_an_error_of_the_loss_is_that_of_the_user(client: Any) -> None:
    """What a chunk raises in a worker below the first is raised here, with the user's line."""

    def broken(w: Any, x: Any, y: Any) -> Any:
        return np.mean((x @ w[:3] - y) ** 2)

    f = gd.value_and_grad(by_value(broken), on=gd.Shards(client), reduction="mean", check=False)
    with pytest.raises(gt.ShapeError, match="x @ w"):
        f(W, *mpi_program.rows())


def test_what_is_no_place_for_shards() -> None:
    """Arguments that make no sense, and no client."""
    with pytest.raises(gt.OperandError, match="fan=0"):
        gd.Shards(fan=0)
    with pytest.raises(gt.OperandError, match="client is a str"):
        gd.Shards("tcp://here")
