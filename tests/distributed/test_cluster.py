"""Derivatives on a real cluster of processes: the same bits on any number of workers, lost ones included."""

from __future__ import annotations

import hashlib
import linecache
import logging
import os
import signal
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape import distributed as gd

da = pytest.importorskip("dask.array", reason="Dask is not installed: nothing is tested on a cluster")
distributed = pytest.importorskip("distributed", reason="distributed is not installed: nothing is tested on a cluster")

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
WAIT = 120  # seconds, at most, for a worker or an answer
RNG = np.random.default_rng(0)
X = RNG.normal(size=(1500, 6))
Y = np.sign(RNG.normal(size=1500))
W = RNG.normal(size=6)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """The client of a cluster of one worker, to begin with."""
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": "800MB"}
    with (
        distributed.LocalCluster(processes=True, silence_logs=logging.CRITICAL, **options) as cluster,
        distributed.Client(cluster, timeout=WAIT) as client,
    ):
        yield client


def rows(chunk: int = 70) -> tuple[Any, Any]:
    return da.from_array(X, chunks=(chunk, 6)), da.from_array(Y, chunks=chunk)


def make_logistic() -> Any:
    """A loss that the workers get by value, as that of a notebook: they cannot import this module."""
    return lambda w, x, y: np.mean(np.logaddexp(0.0, -y * (x @ w)))


def digest(answer: Any) -> str:
    value, gradient = answer
    return hashlib.sha256(np.asarray(value).tobytes() + gradient.tobytes()).hexdigest()


def by_value(function: Any) -> Any:
    """The same function, of a module that cannot be imported elsewhere."""
    function.__module__ = "__main__"
    return function


def test_bits_are_the_same_on_any_number_of_workers(client: Any) -> None:
    """One process, one to three workers, groups of any size, held or not, one killed: one hash."""
    loss = by_value(make_logistic())
    expected = digest(gd.value_and_grad(loss, on="synchronous")(W, *rows()))
    found = {"one worker": digest(gd.value_and_grad(loss)(W, *rows()))}
    for workers in (2, 3):
        client.cluster.scale(workers)
        client.wait_for_workers(workers, timeout=WAIT)
        for groups, hold in ((1, False), (4, True)):
            f = gd.value_and_grad(loss, groups=groups, hold=hold)
            found[f"{workers} workers, groups of {groups}, hold={hold}"] = digest(f(W, *rows()))
    held = gd.value_and_grad(loss, hold=True)
    held(W + 1.0, *rows())
    pids = list(client.run(os.getpid).values())
    os.kill(pids[0], signal.SIGKILL)
    found["one killed, which held chunks"] = digest(held(W, *rows()))
    assert found == dict.fromkeys(found, expected)


def test_a_function_is_traced_once_in_a_process(client: Any) -> None:
    """However many tasks and calls there are, each worker traces once for each length of chunks."""
    f = gd.value_and_grad(by_value(lambda w, x, y: np.mean((np.tanh(x @ w) - y) ** 2)), groups=1, hold=False)
    for step in range(3):
        f(W + step, *rows(100))

    def traces(token: str) -> tuple[int, int]:
        from gradtape.distributed.shipping import _received

        found = _received.get(token)
        stats = None if found is None else found.content.compiled.stats
        return (0, 0) if stats is None else (stats.traces, stats.uncompiled)

    token = f.program("value_and_grad").__reduce__()[1][0]
    counts = list(client.run(by_value(traces), token).values())
    assert max(counts) == (1, 0)
    assert all(count in ((0, 0), (1, 0)) for count in counts)


def test_an_error_in_a_worker_has_names_and_carets(client: Any) -> None:
    """The error of a notebook's cell is shown in the client as if it had happened there."""
    text = "def cell(w, x, y):\n    hidden = x[:, :2] @ w\n    return np.mean((hidden - y) ** 2)\n"
    linecache.cache["<ipython-input-7>"] = (len(text), None, text.splitlines(keepends=True), "<ipython-input-7>")
    names: dict[str, Any] = {"np": np, "__name__": "__main__"}
    exec(compile(text, "<ipython-input-7>", "exec"), names)
    with pytest.raises(gt.ShapeError) as caught:
        gd.value_and_grad(names["cell"], reduction="mean", check=False)(W, *rows())
    problem = caught.value.problem
    assert (problem.code, problem.spans[0].text) == ("GT111", "x[:, :2] @ w")
    assert [operand.name for operand in problem.operands] == ["x[:, :2]", "w"]
    assert "_task_spec" not in str(caught.value)


def test_a_warning_of_workers_is_given_once_in_the_client(client: Any) -> None:
    """What is found in many chunks and on several workers is one warning, by the client's severities."""

    def loss(w: Any, x: Any, y: Any) -> Any:
        predicted = x @ w[:, None]
        return np.mean((predicted - y) ** 2)

    f = gd.value_and_grad(by_value(loss), reduction="mean", check=False, groups=1)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        f(W, *rows())
        f(W + 1.0, *rows())
    assert [str(each.message)[:7] for each in given if issubclass(each.category, gt.GradientWarning)] == ["[GT101]"]
    with gt.explain.configure(GT101="raise"), pytest.raises(gt.ShapeError, match="GT101"):
        gd.value_and_grad(by_value(lambda w, x, y: loss(w, x, y)), reduction="mean", check=False)(W, *rows())


def test_a_chunk_that_ends_its_worker_is_named(client: Any) -> None:
    """A task that ends worker after worker, as one does that needs too much memory, is an error with its chunks."""

    def fatal(w: Any, x: Any, y: Any) -> Any:
        if x[0, 0] == marked and client_pid != os.getpid():
            os.kill(os.getpid(), signal.SIGKILL)
        return np.mean((x @ w - y) ** 2)

    def allow(failures: int, dask_scheduler: Any = None) -> int:
        before, dask_scheduler.allowed_failures = dask_scheduler.allowed_failures, failures
        return int(before)

    marked, client_pid = X[700, 0], os.getpid()
    before = client.run_on_scheduler(by_value(allow), 0)
    try:
        with pytest.raises(gt.OperandError, match="the chunks 0 to 21 ended the worker"):
            gd.value_and_grad(by_value(fatal), groups=32, hold=False, jit=False)(W, *rows())  # one task
    finally:
        client.run_on_scheduler(by_value(allow), before)


def test_a_memory_map_is_not_sent_to_workers(client: Any, tmp_path: Path) -> None:
    """A memory map would be sent with all its numbers: it is refused, with what to do."""
    np.save(tmp_path / "x.npy", X)
    x = da.from_array(np.load(tmp_path / "x.npy", mmap_mode="r"), chunks=(500, 6))
    with pytest.raises(gt.OperandError, match=r"numpy\.memmap"):
        gd.grad(by_value(lambda w, x: np.sum(x @ w)))(W, x)


def test_a_chunk_that_is_too_large_is_refused_beforehand(client: Any) -> None:
    """Chunks that no worker has the memory for are refused before anything is computed, with a size that fits."""

    def unread(block: Any) -> Any:
        raise AssertionError("a chunk was computed")

    x = da.zeros((60_000_000, 2), chunks=(45_000_000, 2)).map_blocks(by_value(unread), dtype=float, meta=X[:0, :2])
    client.wait_for_workers(1, timeout=WAIT)
    with pytest.raises(gt.OperandError, match="45000000 rows, 720 MB") as caught:
        gd.grad(by_value(lambda w, x: np.sum(x @ w)))(W[:2], x)
    assert "X.rechunk((6250000, -1))" in " ".join(str(caught.value).split())


# -- map


def test_tasks_draw_the_same_numbers_on_workers_and_here(client: Any) -> None:
    """Equal seeds give equal draws wherever a task runs, and what a task compiles is compiled once in a process."""
    slope = gt.jit(gt.grad(lambda w, x: np.mean(np.tanh(x @ w))))

    def chain(task: int, rng: Any) -> Any:
        return slope(W, rng.normal(size=(20, 6))) + task, os.getpid(), slope.stats.traces

    here = gd.map(by_value(chain), range(20), seed=5, on="synchronous")
    there = gd.map(chain, range(20), seed=5)
    assert b"".join(x[0].tobytes() for x in here) == b"".join(x[0].tobytes() for x in there)
    assert os.getpid() not in {pid for _, pid, _ in there}
    assert {traces for _, _, traces in there} == {1}


def test_tasks_are_named_for_the_function(client: Any) -> None:
    """The dashboard groups tasks by the beginning of their keys, which is the name of the user's function."""
    from distributed.utils import key_split

    def fit_curve(task: int) -> str:
        from distributed import get_worker

        worker = get_worker()
        return str(worker.get_current_task())

    (key,) = gd.map(by_value(fit_curve), [1])
    assert "fit_curve" in key
    assert key_split(("fit_curve-" + "0" * 32, 1)) == "fit_curve"


def test_a_task_whose_worker_is_killed_is_run_again(client: Any, tmp_path: Path) -> None:
    """A worker that is killed in the middle of a task costs time only."""

    def fragile(task: int, rng: Any) -> Any:
        marker = tmp_path / "killed"
        if task == 3 and pid != os.getpid() and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return rng.normal(size=3)

    pid = os.getpid()
    results = gd.map(by_value(fragile), range(8), seed=1, checkpoint=tmp_path / "sweep.results")
    assert (tmp_path / "killed").exists()
    expected = gd.map(fragile, range(8), seed=1, on="synchronous")
    assert np.array(results).tobytes() == np.array(expected).tobytes()


def test_tasks_that_fail_on_workers_leave_the_others(client: Any) -> None:
    """The error of a worker's task is the client's, with the line; results of the others are on it."""

    def invert(task: int) -> int:
        return 12 // task

    with pytest.raises(gd.TaskError, match=r"position 1, 0: ZeroDivisionError(.|\n)*return 12 // task") as caught:
        gd.map(by_value(invert), [1, 0, 3])
    assert caught.value.results == {0: 12, 2: 4}


# -- fit


def test_training_on_workers_has_the_bits_of_one_process(client: Any, tmp_path: Path) -> None:
    """A run that ended in one process goes on on workers, one of which is killed on the way: the bits of one run."""
    pytest.importorskip("safetensors", reason="safetensors is not installed: runs are not stored")
    here, steps = os.getpid(), 0

    def loss(p: Any, x: Any, y: Any) -> Any:
        return np.mean((np.tanh(x @ p["w"]) - y) ** 2)

    def ending(p: Any, x: Any, y: Any) -> Any:
        nonlocal steps
        steps += 1
        if steps == 40:
            raise ValueError("the power is off")
        return loss(p, x, y)

    def killing(p: Any, x: Any, y: Any) -> Any:
        marker = tmp_path / "killed"
        if os.getpid() != here and x[0, 0] == marked and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return loss(p, x, y)

    marked, path = X[700, 0], tmp_path / "run.safetensors"
    options: dict[str, Any] = {"optimiser": gt.optim.Adam(0.05), "epochs": 3, "batch_chunks": 5, "jit": False}
    expected = gd.fit({"w": W}, rows(), by_value(loss), on="synchronous", **options).params["w"]
    options |= {"reduction": "mean", "check": False, "checkpoint": path, "checkpoint_every": 1}
    with pytest.raises(ValueError, match="power"):
        gd.fit({"w": W}, rows(), by_value(ending), on="synchronous", **options)
    client.cluster.scale(2)
    client.wait_for_workers(2, timeout=WAIT)
    found = gd.fit({"w": W}, rows(), by_value(killing), resume=True, hold=False, **options).params["w"]
    assert (tmp_path / "killed").exists()
    assert found.tobytes() == expected.tobytes()
