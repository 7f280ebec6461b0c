"""Workers that are killed at any time, retired and added, and little memory: slow tests, which `make distributed` runs.

Their answers are compared by bits with those of one process. Waiting is bounded: what hangs is a failure.
"""

from __future__ import annotations

import hashlib
import logging
import os
import random
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from gradtape import distributed as gd

da = pytest.importorskip("dask.array", reason="Dask is not installed: nothing is tested on a cluster")
distributed = pytest.importorskip("distributed", reason="distributed is not installed: nothing is tested on a cluster")
psutil = pytest.importorskip("psutil", reason="psutil comes with distributed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
WAIT = 300  # seconds, at most, for a worker or an answer
PASSES = 20
RNG = np.random.default_rng(0)
X = RNG.normal(size=(6000, 8))
Y = np.sign(RNG.normal(size=6000))
W = RNG.normal(size=8)


def cluster(workers: int, threads: int = 1, memory: str = "800MB") -> Any:
    options = {"n_workers": workers, "threads_per_worker": threads, "memory_limit": memory, "dashboard_address": ":0"}
    return distributed.LocalCluster(processes=True, silence_logs=logging.CRITICAL, **options)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """The client of a cluster of two workers, of which a task may lose many."""
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 100}),
        cluster(2) as workers,
        distributed.Client(workers, timeout=WAIT) as client,
    ):
        yield client


def logistic(w: Any, x: Any, y: Any) -> Any:
    return np.mean(np.logaddexp(0.0, -y * (x @ w)))


logistic.__module__ = "__main__"  # the workers cannot import this module


def rows(chunk: int = 61) -> tuple[Any, Any]:
    return da.from_array(X, chunks=(chunk, 8)), da.from_array(Y, chunks=chunk)


def digest(answer: Any) -> str:
    value, gradient = answer
    return hashlib.sha256(np.asarray(value).tobytes() + np.asarray(gradient).tobytes()).hexdigest()


def within(seconds: float, function: Any, *args: Any) -> Any:
    """What `function` gives, or an error if it takes longer."""
    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(function, *args).result(timeout=seconds)
    finally:
        pool.shutdown(wait=False)


def scale(client: Any, workers: int) -> None:
    client.cluster.scale(workers)
    client.wait_for_workers(workers, timeout=WAIT)


def test_random_kills_in_twenty_passes_leave_the_bits(client: Any) -> None:
    """Workers get SIGKILL at random times, held chunks included: each pass has the bits of one process."""
    draws = random.Random(0)
    f = gd.value_and_grad(logistic, groups=2, hold=True)
    alone = gd.value_and_grad(logistic, on="synchronous")
    kills = 0
    over = threading.Event()

    def kill_now_and_then() -> None:
        nonlocal kills
        while not over.wait(draws.uniform(0.2, 1.5)):
            pids = [worker["pid"] for worker in processes(client)]
            if len(pids) >= 2:
                os.kill(draws.choice(pids), signal.SIGKILL)
                kills += 1

    killer = threading.Thread(target=kill_now_and_then)
    killer.start()
    try:
        for number in range(PASSES):
            w = W + 0.01 * number
            assert digest(within(WAIT, f, w, *rows())) == digest(alone(w, *rows())), f"pass {number}, {kills} kills"
    finally:
        over.set()
        killer.join()
    assert kills >= 3


def processes(client: Any) -> list[dict[str, Any]]:
    """The processes of the workers that are there now, as the system knows them."""
    children = psutil.Process().children(recursive=True)
    found = []
    for child in children:
        try:
            if any("spawn_main" in part for part in child.cmdline()):
                found.append({"pid": child.pid, "memory": child.memory_info().rss})
        except psutil.Error:  # it has ended since
            continue
    return found


def test_all_workers_but_one_are_lost(client: Any) -> None:
    """With three workers of which two are killed at once, a pass goes on, and has the same bits."""
    scale(client, 3)
    f = gd.value_and_grad(logistic, groups=1, hold=True)
    within(WAIT, f, W, *rows())
    for pid in list(client.run(os.getpid).values())[:2]:
        os.kill(pid, signal.SIGKILL)
    assert digest(within(WAIT, f, W + 1.0, *rows())) == digest(
        gd.value_and_grad(logistic, on="synchronous")(W + 1.0, *rows())
    )


def test_workers_are_retired_and_added(client: Any) -> None:
    """A worker that leaves in order and one that joins change nothing but the time."""
    f = gd.value_and_grad(logistic, groups=4, hold=True)
    expected = gd.value_and_grad(logistic, on="synchronous")
    found = []
    scale(client, 2)
    for number, workers in enumerate((3, 2, 1, 3)):
        if workers < 3 and len(client.scheduler_info(n_workers=-1)["workers"]) > 1:
            client.retire_workers(list(client.scheduler_info(n_workers=-1)["workers"])[:1])
        scale(client, workers)
        w = W - number
        found.append(digest(within(WAIT, f, w, *rows())) == digest(expected(w, *rows())))
    assert found == [True] * 4


@pytest.mark.parametrize(("workers", "threads"), [(1, 1), (1, 2), (3, 1)])
def test_bits_on_any_cluster_in_groups_of_any_size(workers: int, threads: int) -> None:
    """One worker with two threads, three workers, groups of 1 to 16, chunks in any order of completion: one hash."""
    alone = gd.value_and_grad(logistic, on="synchronous")
    with cluster(workers, threads) as made, distributed.Client(made, timeout=WAIT):
        for number, groups in enumerate((1, 2, 4, 8, 16)):
            w = W + number
            found = within(WAIT, gd.value_and_grad(logistic, groups=groups, hold=bool(number % 2)), w, *rows())
            assert digest(found) == digest(alone(w, *rows())), groups


def test_a_gigabyte_goes_through_two_workers_of_400_megabytes() -> None:
    """Rows of 1 GB in chunks of 20 MB: neither worker has more than its limit, read from the system."""

    def chunk(block_info: Any = None) -> Any:
        number = block_info[None]["chunk-location"][0]
        return np.random.default_rng(number).normal(size=(50_000, 50))

    chunk.__module__ = "__main__"
    x = da.map_blocks(chunk, chunks=((50_000,) * 50, 50), dtype=float, meta=np.zeros((0, 50)))
    assert x.nbytes == 10**9
    peak, over = 0, threading.Event()
    with cluster(2, memory="400MB") as made, distributed.Client(made, timeout=WAIT) as client:

        def watch() -> None:
            nonlocal peak
            while not over.wait(0.05):
                peak = max([peak, *(worker["memory"] for worker in processes(client))])

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            squares = lambda w, x: np.mean((x @ w - 1.0) ** 2)
            squares.__module__ = "__main__"
            value, gradient = within(WAIT, gd.value_and_grad(squares), np.ones(50), x)
        finally:
            over.set()
            watcher.join()
    print(f"peak of a worker {peak / 1e6:.0f} MB")
    assert np.isfinite(value)
    assert gradient.shape == (50,)
    assert 50e6 < peak < 400e6


def test_a_map_survives_random_kills(client: Any) -> None:
    """Tasks whose workers are killed at random times are run again, with the same draws."""

    def task(number: int, rng: Any) -> Any:
        total = np.zeros(3)
        for _ in range(20_000):
            total += rng.normal(size=3)
        return total

    task.__module__ = "__main__"
    scale(client, 2)
    expected = gd.map(task, range(40), on="synchronous")
    over, killed = threading.Event(), []

    def kill_twice() -> None:
        for _ in range(2):
            if over.wait(1.0):
                return
            pids = [worker["pid"] for worker in processes(client)]
            if len(pids) >= 2:
                os.kill(pids[0], signal.SIGKILL)
                killed.append(pids[0])

    killer = threading.Thread(target=kill_twice)
    killer.start()
    try:
        found = within(WAIT, lambda: gd.map(task, range(40)))
    finally:
        over.set()
        killer.join()
    assert np.array(found).tobytes() == np.array(expected).tobytes()
    assert killed
