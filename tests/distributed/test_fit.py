"""`gt.distributed.fit`: the steps of all rows in one batch, the same bits wherever they run, and files of runs."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape import distributed as gd

da = pytest.importorskip("dask.array", reason="Dask is not installed: training over its rows is not tested")
pytest.importorskip("safetensors", reason="safetensors is not installed: runs are not stored")

ROOT = Path(__file__).parent.parent.parent
RNG = np.random.default_rng(0)
X = RNG.normal(size=(130, 3))
Y = np.tanh(X @ np.array([1.0, -2.0, 0.5]))[:, None]
CUT = (20, 7, 30, 3, 20, 40, 10)
START = {"w": np.zeros(3), "b": np.array(0.0)}
mse = gt.nn.functional.mse_loss


def rows(dtype: Any = np.float64) -> tuple[Any, Any]:
    return da.from_array(X.astype(dtype), chunks=(CUT, 3)), da.from_array(Y.astype(dtype), chunks=(CUT, 1))


def squares(p: Any, x: Any, y: Any) -> Any:
    return np.mean((np.tanh(x @ p["w"] + p["b"]) - y[:, 0]) ** 2)


def network(*layers: Any, seed: int = 0) -> Any:
    inner = layers or (gt.nn.Tanh(),)
    return gt.nn.Sequential(gt.nn.Dense(3, 5), *inner, gt.nn.Dense(5, 1)).initialise(np.random.default_rng(seed))


def digest(params: Any) -> str:
    from gradtape.extend import leaves

    return hashlib.sha256(b"".join(np.asarray(x).tobytes() for x in leaves(params))).hexdigest()


def test_a_step_of_all_chunks_is_that_of_one_batch() -> None:
    """With all chunks in a step, gt.fit with one batch of all rows does the same, up to rounding."""
    options: dict[str, Any] = {"optimiser": gt.optim.Adam(0.05), "epochs": 4}
    ours = gd.fit(START, rows(), squares, batch_chunks=len(CUT), **options)
    theirs = gt.fit(START, (X, Y), squares, batch_size=len(X), **options)
    np.testing.assert_allclose(ours.params["w"], theirs.params["w"], rtol=1e-9)
    np.testing.assert_allclose(ours["loss"], theirs["loss"], rtol=1e-9)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_steps_are_those_of_their_chunks_by_hand(reduction: str) -> None:
    """In order, two chunks a step: each step is the gradient of the rows of both together."""
    loss = squares if reduction == "mean" else lambda p, x, y: np.sum((np.tanh(x @ p["w"] + p["b"]) - y[:, 0]) ** 2)
    found = gd.fit(START, rows(), loss, optimiser=gt.optim.SGD(0.01), epochs=1, batch_chunks=2, shuffle=False)
    params, ends = START, np.cumsum((0, *CUT))
    for first in range(0, len(CUT), 2):
        span = slice(ends[first], ends[min(first + 2, len(CUT))])
        slope = gt.grad(loss)(params, X[span], Y[span])
        params = {name: value - 0.01 * slope[name] for name, value in params.items()}
    np.testing.assert_allclose(found.params["w"], params["w"], rtol=1e-10)


def test_bits_depend_on_chunks_and_seed_only() -> None:
    """On one thread or several, compiled: the same bits, dropout included; another seed gives others."""
    found = {
        on: digest(gd.fit(model := network(gt.nn.Dropout(0.3)), rows(np.float32), mse, on=on, batch_chunks=3).params)
        for on in ("synchronous", "threads")
    }
    assert model is not None
    assert len(set(found.values())) == 1
    other = gd.fit(network(gt.nn.Dropout(0.3)), rows(np.float32), mse, seed=1, batch_chunks=3)
    assert digest(other.params) not in found.values()


def test_running_statistics_are_means_over_the_chunks_of_a_step() -> None:
    """BatchNorm's buffers are the means over chunks weighted by rows, its count is of steps; it says so once."""
    layer = gt.nn.BatchNorm1d(3, dtype=np.float64)
    model = gt.nn.Sequential(layer, gt.nn.Dense(3, 1, dtype=np.float64)).initialise(np.random.default_rng(0))
    gt.explain.notes(clear=True)
    gd.fit(model, rows(), mse, batch_chunks=len(CUT), epochs=1, shuffle=False, optimiser=gt.optim.SGD(0.1))
    assert [note.code for note in gt.explain.notes(clear=True)] == ["GT603"]
    ends = np.cumsum((0, *CUT))
    means = [X[a:b].mean(axis=0) for a, b in pairwise(ends)]
    expected = 0.1 * np.average(means, axis=0, weights=CUT)
    np.testing.assert_allclose(np.asarray(layer.running_mean), expected, rtol=1e-10)
    assert int(layer.num_batches_tracked) == 1


def test_validation_is_in_memory_or_over_rows() -> None:
    """Both give the loss and the metrics of the same rows; early stopping watches them."""
    options: dict[str, Any] = {
        "metrics": {"largest": lambda prediction, y: np.mean(np.abs(prediction - y))},
        **{"batch_chunks": 3, "epochs": 3, "early_stopping": 2},
    }
    here = gd.fit(network(), rows(np.float32), mse, validation=(X[:50], Y[:50]), **options)
    x, y = rows(np.float32)
    there = gd.fit(network(), (x, y), mse, validation=(x[:50], y[:50]), **options)
    for name in ("validation_loss", "largest"):
        np.testing.assert_allclose(here[name], there[name], rtol=1e-5)


@pytest.mark.parametrize("every", [None, 1])
def test_a_run_is_taken_up_with_the_same_bits(tmp_path: Path, every: int | None) -> None:
    """Interrupted within an epoch or between two, the run ends with the bits of one that was not."""
    options: dict[str, Any] = {"batch_chunks": 2, "epochs": 4, "optimiser": gt.optim.Adam(0.05)}
    whole = gd.fit(START, rows(), squares, **options)
    path = tmp_path / "run.safetensors"
    steps = 0

    def interrupted(p: Any, x: Any, y: Any) -> Any:
        nonlocal steps
        steps += 1
        if steps == 18:
            raise ValueError("the power is off")
        return squares(p, x, y)

    with pytest.raises(ValueError, match="power"):
        gd.fit(
            START,
            rows(),
            interrupted,
            **options,
            jit=False,
            check=False,
            reduction="mean",
            on="synchronous",
            checkpoint=path,
            checkpoint_every=every,
        )
    again = gd.fit(START, rows(), squares, **options, checkpoint=path, resume=True, jit=False)
    eager = gd.fit(START, rows(), squares, **options, jit=False)
    assert digest(again.params) == digest(eager.params)
    assert again["loss"] == eager["loss"]
    np.testing.assert_allclose(whole.params["w"], eager.params["w"], rtol=1e-9)


def test_a_run_of_other_chunks_is_not_taken_up(tmp_path: Path) -> None:
    """What the bits depend on has to be the same: chunks, seed, steps."""
    path = tmp_path / "run.safetensors"
    gd.fit(START, rows(), squares, epochs=1, checkpoint=path)
    x, y = rows()
    for data, more, says in [
        ((x.rechunk((50, 3)), y.rechunk((50, 1))), {}, "division of the rows into chunks"),
        ((x, y), {"seed": 1}, "seed was 0"),
        ((x, y), {"batch_chunks": 3}, "number of chunks a step"),
    ]:
        with pytest.raises(gt.nn.CheckpointError, match=says):
            gd.fit(START, data, squares, epochs=2, checkpoint=path, resume=True, **more)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"batch_chunks": 0}, "batch_chunks=0"),
        ({"epochs": 1.5}, "epochs=1.5"),
        ({"seed": -1}, "seed=-1"),
        ({"resume": True}, "resume=True without a checkpoint"),
        ({"callbacks": [3]}, "callbacks"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], says: str) -> None:
    """An option that makes no sense is named with its value."""
    with pytest.raises(gt.OperandError, match=says):
        gd.fit(START, rows(), squares, **options)


def test_bad_data_and_losses_are_refused() -> None:
    """Arrays in memory belong to gt.fit; a loss that is no mean of rows is refused; a chunk that is spoilt is named."""
    with pytest.raises(gt.OperandError, match=r"a tuple of ndarray, ndarray(.|\n)*gt\.fit for arrays"):
        gd.fit(START, (X, Y), squares)
    with pytest.raises(gt.OperandError, match="GT601"):
        gd.fit(START, rows(), lambda p, x, y: np.sqrt(squares(p, x, y)))
    x, y = rows()
    spoilt = da.concatenate([x[:57], x[57:60] * np.nan, x[60:]]).rechunk((CUT, 3))
    with gt.explain.configure(GT401="note"), pytest.raises(gt.GradTapeError, match=r"the chunks 2, 3: X\.blocks"):
        gd.fit(START, (spoilt, y), squares, batch_chunks=2, shuffle=False, reduction="mean", check=False)


PROGRAM = """
import os, signal, sys
import numpy as np, dask.array as da
import gradtape as gt
from gradtape import distributed as gd

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3)).astype(np.float32)
Y = np.tanh(X.sum(axis=1, keepdims=True))
reads = 0

def read(block):
    global reads
    reads += 1
    if reads == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)
    return block

def train(path, on):
    x = da.from_array(X, chunks=(10, 3)).map_blocks(read, dtype=X.dtype, meta=X[:0])
    y = da.from_array(Y, chunks=(10, 1))
    model = gt.nn.Sequential(gt.nn.Dense(3, 4), gt.nn.Tanh(), gt.nn.Dense(4, 1)).initialise(np.random.default_rng(0))
    gd.fit(model, (x, y), gt.nn.functional.mse_loss, batch_chunks=3, epochs=3, checkpoint=path, seed=4, jit=False,
           checkpoint_every=1, resume=True, on=on, optimiser=gt.optim.Adam(0.01))
    return b"".join(np.asarray(x).tobytes() for x in model.state_dict().values())

if __name__ == "__main__":
    kill_at = int(sys.argv[2])
    train(sys.argv[1], "synchronous")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("kill_at", [18, pytest.param(27, marks=pytest.mark.slow)])
def test_a_killed_program_goes_on_with_the_same_bits(tmp_path: Path, kill_at: int) -> None:
    """Killed within a step and taken up on another number of threads, a run ends as one that was not killed."""
    script, path = tmp_path / "train.py", tmp_path / "run.safetensors"
    script.write_text(PROGRAM)
    command = [sys.executable, str(script), str(path), str(kill_at)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert path.exists()
    names: dict[str, Any] = {"__name__": "train", "kill_at": 0}
    exec(compile(PROGRAM, "train.py", "exec"), names)
    assert names["train"](path, "threads") == names["train"](tmp_path / "other.safetensors", "synchronous")
