"""What gradients over rows of Dask arrays cost: CPU of workers, of scheduler and client, time, memory, and bits.

    python benchmarks/over_dask.py [--chunks 24] [--rows 50000] [--passes 3] [--only rows,minimisers]

Costs are CPU seconds, as the system counts them for each process, so that other programs on the machine change them
little. Times mean something on an idle machine only. Parameters change from pass to pass, because Dask gives the old
answer for the same ones. dask-glm is compared with where it is installed.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

FEATURES = 100


def make_chunk(block_info: Any = None) -> Any:
    """The rows of one chunk, features and the label behind them."""
    place = block_info[None]
    rng = np.random.default_rng(place["chunk-location"][0])
    x = rng.normal(size=place["chunk-shape"])
    x[:, -1] = np.sign(x[:, 0] + 0.5 * x[:, 1] + rng.logistic(size=len(x)))
    return x


def logistic(w: Any, rows: Any) -> Any:
    return np.mean(np.logaddexp(0.0, -rows[:, -1] * (rows[:, :-1] @ w)))


def lazy_rows(chunks: int, length: int) -> Any:
    import dask.array as da

    return da.map_blocks(
        make_chunk, chunks=((length,) * chunks, FEATURES + 1), dtype=float, meta=np.zeros((0, FEATURES + 1))
    )


def weights(number: int) -> Any:
    return np.full(FEATURES, 0.01 * (1 + number))


def digest(answer: Any) -> str:
    value, gradient = answer
    return hashlib.sha256(np.asarray(value).tobytes() + gradient.tobytes()).hexdigest()[:12]


@contextmanager
def measured() -> Iterator[dict[str, float]]:
    """CPU seconds of this process, and the time, between the beginning and the end."""
    found: dict[str, float] = {}
    cpu, wall = time.process_time(), time.perf_counter()
    yield found
    found["cpu"], found["wall"] = time.process_time() - cpu, time.perf_counter() - wall


@contextmanager
def watched(processes: list[Any]) -> Iterator[dict[str, int]]:
    """The most memory that any of the processes has between the beginning and the end."""
    found, over = {"peak": 0}, threading.Event()

    def watch() -> None:
        while not over.wait(0.2):
            found["peak"] = max([found["peak"], *(process.memory_info().rss for process in processes)])

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield found
    finally:
        over.set()
        watcher.join()


def show(name: str, value: str, wanted: str = "") -> None:
    print(f"{name:64} {value:>22}  {wanted}")


def in_one_process(options: argparse.Namespace) -> tuple[float, str]:
    """Out of core on one thread, against the same chunks read and computed in a loop; the CPU a pass, and the bits."""
    import gradtape as gt
    from gradtape import distributed as gd

    rows = lazy_rows(options.chunks, options.rows)
    f = gd.value_and_grad(logistic, on="synchronous")
    f(weights(0), rows)
    with measured() as ours:
        for number in range(options.passes):
            answer = f(weights(number + 1), rows)
    step = gt.jit(gt.value_and_grad(logistic))
    from gradtape.distributed.shipping import one_thread

    chunk = rows.blocks[0].compute(scheduler="synchronous")
    with one_thread():
        step(weights(0), chunk)
        with measured() as plain:
            for number in range(options.passes):
                for _ in range(options.chunks):
                    step(weights(number + 1), chunk)
        with measured() as reading:
            for number in range(options.chunks):
                make_chunk({None: {"chunk-location": (number, 0), "chunk-shape": (options.rows, FEATURES + 1)}})
    per_pass = ours["cpu"] / options.passes
    bound = plain["cpu"] / options.passes + reading["cpu"]
    show("out of core / chunks in a loop + reading them, CPU", f"{per_pass / bound:.2f}", "at most 1.1")
    return per_pass, digest(answer)


def on_workers(options: argparse.Namespace, alone: float, bits: str) -> None:
    """Two workers: their CPU and that of scheduler and client, time against one worker, memory, bits."""
    import distributed
    import psutil

    from gradtape import distributed as gd

    rows = lazy_rows(options.chunks, options.rows)
    chunk_bytes = options.rows * (FEATURES + 1) * 8
    walls = {}
    for workers in (1, 2):
        cluster = distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
        )
        with cluster, distributed.Client(cluster) as client:
            processes = [psutil.Process(pid) for pid in client.run(os.getpid).values()]
            f = gd.value_and_grad(logistic, hold=False)
            for number in range(2):  # each worker compiles
                f(weights(number) - 1.0, rows)
            before = sum(sum(process.cpu_times()[:2]) for process in processes)
            own = time.process_time()
            with measured() as here, watched(processes) as memory:
                for number in range(options.passes):
                    answer = f(weights(number + 1), rows)
            own = time.process_time() - own
            there = sum(sum(process.cpu_times()[:2]) for process in processes) - before
            walls[workers] = here["wall"]
            same = "the same bits" if digest(answer) == bits else "OTHER BITS"
        if workers == 2:
            show("CPU of two workers / of one process", f"{there / options.passes / alone:.2f}", "at most 1.15")
            show("CPU of scheduler and client / of the workers", f"{own / there:.3f}", "at most 0.1")
            needed = 3 * chunk_bytes + 200e6
            show("peak of a worker / (chunk + intermediates + 200 MB)", f"{memory['peak'] / needed:.2f}", "at most 1.2")
        show(f"bits on {workers} worker{'s' * (workers > 1)} and in one process", same)
    show("time of 2 workers / of 1 (idle machine only)", f"{walls[2] / walls[1]:.2f}", "at most 0.6")


def overhead(options: argparse.Namespace) -> None:
    """What a task of gd.map, and an empty task of Dask, cost scheduler and client."""
    import distributed

    from gradtape import distributed as gd

    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
    )
    tasks = list(range(500))
    with cluster, distributed.Client(cluster) as client:
        gd.map(abs, tasks[:10])
        with measured() as ours:
            gd.map(abs, tasks)
        with measured() as theirs:
            client.gather(client.map(abs, tasks, pure=False))
    show("a task of gd.map, scheduler and client", f"{1e3 * ours['cpu'] / len(tasks):.2f} ms CPU")
    show("a task of client.map, scheduler and client", f"{1e3 * theirs['cpu'] / len(tasks):.2f} ms CPU")


def minimisers(options: argparse.Namespace) -> None:
    """L-BFGS over 8 chunks of 20,000 rows: CPU an evaluation, against SciPy in memory and dask-glm."""
    import dask.array as da
    from scipy.optimize import minimize

    import gradtape as gt
    from gradtape import distributed as gd
    from gradtape.distributed.shipping import one_thread

    rng = np.random.default_rng(0)
    x = rng.normal(size=(160_000, 50))
    y = (x[:, 0] + rng.logistic(size=len(x)) > 0).astype(float)

    def loss(w: Any, x: Any, y: Any) -> Any:
        score = x @ w
        return np.mean(np.logaddexp(0.0, score) - y * score)

    rows = da.from_array(x, chunks=(20_000, 50)), da.from_array(y, chunks=20_000)
    f = gd.value_and_grad(loss, on="synchronous", hold=True)
    f(np.full(50, 0.1), *rows)
    with measured() as ours:
        found = minimize(f, np.zeros(50), args=rows, jac=True, method="L-BFGS-B")
    in_memory = gt.jit(gt.value_and_grad(loss))
    with one_thread():
        in_memory(np.full(50, 0.1), x, y)
        with measured() as scipy:
            expected = minimize(in_memory, np.zeros(50), args=(x, y), jac=True, method="L-BFGS-B")
    ratio = (ours["cpu"] / found.nfev) / (scipy["cpu"] / expected.nfev)
    show("L-BFGS, 8 chunks of 8 MB / in memory, CPU an evaluation", f"{ratio:.2f}", "at most 4")
    show("  the same minimum", f"{abs(found.fun - expected.fun):.1e} apart")
    if importlib.util.find_spec("dask_glm") is None:
        show("L-BFGS / dask-glm's", "dask-glm not installed")
        return
    import dask
    from dask_glm.algorithms import lbfgs
    from dask_glm.families import Logistic

    calls = 0
    gradient = Logistic.pointwise_gradient

    def counted(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        return gradient(*args)

    Logistic.pointwise_gradient = staticmethod(counted)
    held = [each.persist(scheduler="synchronous") for each in rows]
    with dask.config.set(scheduler="synchronous"), one_thread(), measured() as theirs:
        lbfgs(*held, family=Logistic, regularizer="l2", lamduh=0.0)
    ratio = (ours["cpu"] / found.nfev) / (theirs["cpu"] / max(calls, 1))
    show("L-BFGS / dask-glm's, CPU an evaluation", f"{ratio:.2f}", "at most 0.4")


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {"overhead": overhead, "minimisers": minimisers}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=24)
    parser.add_argument("--rows", type=int, default=50_000, help="rows a chunk: 50000 are 40 MB")
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--only", default="rows,overhead,minimisers", help="parts of the table, with commas between")
    options = parser.parse_args()
    wanted = options.only.split(",")
    unknown = set(wanted) - {"rows", *PARTS}
    if unknown or min(options.chunks, options.rows, options.passes) < 1:
        parser.error(f"--only: some of rows, {', '.join(PARTS)}; counts of at least 1")
    size = options.chunks * options.rows * (FEATURES + 1) * 8
    print(f"{size / 1e9:.2f} GB of rows in {options.chunks} chunks, {options.passes} passes, {os.cpu_count()} cores\n")
    if "rows" in wanted:
        on_workers(options, *in_one_process(options))
    for name, part in PARTS.items():
        if name in wanted:
            part(options)


if __name__ == "__main__":
    main()
