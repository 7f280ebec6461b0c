"""`gt.distributed.map` in this process and in processes: order, draws, failures, retries, and files of results."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape import distributed as gd
from gradtape.distributed import mapping
from gradtape.distributed.results_file import ResultsFile, digest_of

pytest.importorskip("cloudpickle", reason="cloudpickle comes with Dask, and is not installed")
pytest.importorskip("threadpoolctl", reason="threadpoolctl is not installed")

ROOT = Path(__file__).parent.parent.parent


def walk(steps: int, rng: np.random.Generator) -> Any:
    return rng.normal(size=steps).cumsum()


def bits(results: list[Any]) -> bytes:
    return b"".join(np.asarray(x).tobytes() for x in results)


def test_results_are_in_order_and_draws_depend_on_seed_and_position_only() -> None:
    """On any number of threads, and alone, each task has the generator of its position."""
    expected = gd.map(walk, range(1, 30), seed=3, on="synchronous")
    assert [len(x) for x in expected] == list(range(1, 30))
    with ThreadPoolExecutor(3) as executor:
        for on in (None, "threads", executor):
            assert bits(gd.map(walk, range(1, 30), seed=3, on=on)) == bits(expected)
    assert bits(gd.map(walk, range(1, 30), seed=4)) != bits(expected)
    assert bits(gd.map(walk, range(1, 20), seed=3)) == bits(expected[:19])


def test_a_function_of_one_argument_gets_no_generator() -> None:
    """Whether a function draws is seen from its signature: a second argument without default, or one named rng."""
    assert gd.map(lambda task: task + 1, [1, 2]) == [2, 3]
    assert gd.map(lambda task, scale=2: task * scale, [1, 2]) == [2, 4]
    assert gd.map(len, ["a", "bc"]) == [1, 2]
    by_name = gd.map(lambda task, scale=2, *, rng: rng.integers(1000) * scale, [1, 2])
    by_position = gd.map(lambda task, generator: 2 * generator.integers(1000), [1, 2])
    assert by_name == by_position == gd.map(lambda task, scale=2, rng=None: rng.integers(1000) * scale, [1, 2])
    assert gd.map(len, []) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((3, [1]), "run is a int"),
        ((lambda: 1, [1]), "cannot be called with a task"),
        ((lambda a, b, c: 1, [1]), "cannot be called with a task"),
        ((len, {"a": 1}), r"tasks is a dict(.|\n)*list\(d\.items\(\)\)"),
        ((len, 5), r"tasks is a int(.|\n)*range\(n\)"),
    ],
)
def test_bad_functions_and_tasks_are_refused(arguments: tuple[Any, Any], says: str) -> None:
    """What cannot be mapped is refused with what can."""
    with pytest.raises(gt.OperandError, match=says):
        gd.map(*arguments)


@pytest.mark.parametrize("option", [{"seed": None}, {"seed": -1}, {"retries": -1}, {"retries": 1.5}, {"on": "moon"}])
def test_bad_options_are_refused(option: dict[str, Any]) -> None:
    """An option that makes no sense is named with its value."""
    ((name, value),) = option.items()
    with pytest.raises(gt.OperandError, match=f"{name}={value!r}"):
        gd.map(walk, [1], **option)


@pytest.mark.parametrize("on", ["synchronous", "threads"])
def test_a_task_that_fails_is_named_and_the_others_are_kept(on: str) -> None:
    """The error says position, task, cause and line; the results of the others are on it."""

    def invert(task: dict[str, Any]) -> float:
        return 1.0 / task["x"]

    tasks = [{"x": float(x), "grid": np.zeros(1000)} for x in (2, 0, 4)]
    with pytest.raises(gd.TaskError, match="the task at position 1 of invert failed") as caught:
        gd.map(invert, tasks, on=on)
    text = " ".join(str(caught.value).split())
    assert "{'grid': float64 array of shape (1000,), 'x': 0.0}: ZeroDivisionError" in text
    assert 'return 1.0 / task["x"]' in text
    assert "fix: invert(tasks[1]) fails here" in text
    assert caught.value.problem.code == "GT602"
    assert caught.value.results == {0: 0.5, 2: 0.25}
    assert list(caught.value.failures) == [1]
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_when_all_fail_the_rest_is_not_run() -> None:
    """A mistake that every task has is told after some of them."""
    ran = []

    def wrong(task: int) -> None:
        ran.append(task)
        raise ValueError("no")

    with pytest.raises(gd.TaskError, match="not run, as all before them failed"):
        gd.map(wrong, range(1000), on="synchronous")
    assert len(ran) == mapping.FAILURES_ALONE


def test_errors_of_files_are_tried_again_and_others_are_not() -> None:
    """An OSError may go away; the error of a computation would come again."""
    tries: list[int] = []

    def flaky(task: int) -> int:
        tries.append(task)
        if len(tries) <= task:
            raise OSError("a network")
        return len(tries)

    assert gd.map(flaky, [2], retries=2, on="synchronous") == [3]
    tries.clear()
    with pytest.raises(gd.TaskError, match="a network"):
        gd.map(flaky, [2], retries=1, on="synchronous")
    tries.clear()
    with pytest.raises(gd.TaskError):
        gd.map(lambda task: tries.append(task) or 1 // task, [0], on="synchronous")
    assert tries == [0]


def test_warnings_of_tasks_are_given_once() -> None:
    """What is found in many tasks is one warning, in the thread of the caller."""

    def loss(w: Any) -> Any:
        predicted = np.arange(6.0).reshape(3, 2) @ w[:, None]
        return np.mean((predicted - np.arange(3.0)) ** 2)

    with pytest.warns(gt.GradientWarning, match="GT101") as given:
        gd.map(lambda task: gt.grad(loss)(np.ones(2) * task), range(1, 9))
    assert len(given) == 1


def test_progress_is_shown_where_it_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """A bar of tqdm's with the name of the function, on stderr; nothing where nobody looks."""
    pytest.importorskip("tqdm")
    gd.map(walk, [1, 2])
    assert capsys.readouterr().err == ""
    gd.map(walk, [1, 2], progress=True)
    assert "walk: 100%" in capsys.readouterr().err


# -- files of results


def test_a_call_goes_on_from_its_file(tmp_path: Path) -> None:
    """Results that are in the file are not computed again, and have the same bits; more tasks may follow."""
    path, ran = tmp_path / "sweep.results", []

    def counted(task: int, rng: Any) -> Any:
        ran.append(task)
        if task == 3 and len(ran) < 5:
            raise ValueError("interrupted")
        return walk(task, rng)

    tasks = [1, 2, 3, 4]
    with pytest.raises(gd.TaskError, match=r"stored in\s+.*sweep\.results"):
        gd.map(counted, tasks, checkpoint=path, on="synchronous")
    assert bits(gd.map(counted, tasks, checkpoint=path, on="synchronous")) == bits(gd.map(walk, tasks))
    assert ran == [1, 2, 3, 4, 3]
    more = gd.map(counted, [*tasks, 5], checkpoint=path)
    assert bits(more) == bits(gd.map(walk, [*tasks, 5]))
    assert ran == [1, 2, 3, 4, 3, 5]


@pytest.mark.parametrize("cut", [1, 10, 33, 60, 100])
def test_a_record_that_was_cut_off_is_computed_again(tmp_path: Path, cut: int) -> None:
    """What a killed process left of its last record is dropped, at whatever byte it ended."""
    path = tmp_path / "sweep.results"
    expected = bits(gd.map(walk, [5, 6, 7], checkpoint=path, on="synchronous"))
    content = path.read_bytes()
    path.write_bytes(content[:-cut])
    with ResultsFile(path, {"function": "walk", "seed": 0}, [5, 6, 7]) as file:
        assert sorted(file.results) == [0, 1]
    assert bits(gd.map(walk, [5, 6, 7], checkpoint=path, on="synchronous")) == expected
    assert path.read_bytes() == content


def test_a_record_of_zeros_is_computed_again(tmp_path: Path) -> None:
    """After a power failure the disk may have the new length of the file and not yet the bytes."""
    path = tmp_path / "sweep.results"
    gd.map(walk, [5, 6], checkpoint=path)
    content = path.read_bytes()
    path.write_bytes(content + bytes(300))
    expected = bits(gd.map(walk, [5, 6, 7]))
    assert bits(gd.map(walk, [5, 6, 7], checkpoint=path)) == expected
    assert path.read_bytes().startswith(content)


def test_a_file_of_another_call_is_refused(tmp_path: Path) -> None:
    """Other tasks, another seed, another function: results of those are not mixed with these."""
    path = tmp_path / "sweep.results"
    gd.map(walk, [1, 2], checkpoint=path)
    for arguments, says in [
        ((walk, [1, 3], 0), "the task at position 1 was another one"),
        ((walk, [1, 2], 1), "its seed was 0, and now it is 1"),
        ((lambda task, rng: 0, [1, 2], 0), "its function was 'walk'"),
    ]:
        with pytest.raises(gt.nn.CheckpointError, match=says):
            gd.map(arguments[0], arguments[1], seed=arguments[2], checkpoint=path)
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(gt.nn.CheckpointError, match="no file of results"):
        gd.map(walk, [1], checkpoint=tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "hello"


def test_a_file_that_somebody_else_wrote_is_not_unpickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is read with the key that it was written with only: pickle would run what is in it."""
    path = tmp_path / "sweep.results"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "theirs"))
    gd.map(walk, [1, 2], checkpoint=path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "ours"))
    monkeypatch.setattr(pickle, "loads", lambda *_: pytest.fail("it was unpickled"))
    with pytest.raises(gt.nn.CheckpointError, match="not written by this user"):
        gd.map(walk, [1, 2], checkpoint=path)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    """A flipped bit in any part of a record is found."""
    path = tmp_path / "sweep.results"
    gd.map(walk, [1, 2], checkpoint=path)
    content = path.read_bytes()
    for place in range(20, len(content), 37):
        damaged = bytearray(content)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(gt.nn.CheckpointError, match="damaged"):
            gd.map(walk, [1, 2], checkpoint=path)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no locks of this kind")
def test_a_file_is_written_by_one_process_at_a_time(tmp_path: Path) -> None:
    """A second call that would append to the same file is refused while the first one runs."""
    path = tmp_path / "sweep.results"
    with (
        ResultsFile(path, {"function": "walk", "seed": 0}, [1]),
        pytest.raises(gt.nn.CheckpointError, match="another process is writing"),
    ):
        gd.map(walk, [1], checkpoint=path)


def test_tasks_are_told_apart_by_their_numbers() -> None:
    """Equal tasks have equal digests however they were made, others have others."""
    one, two = {"a": [1.0, "x" * 3]}, {"a": [1.0, "".join(["x", "xx"])]}
    assert digest_of(one) == digest_of(two)
    different = [1, 1.0, True, "1", None, (1,), [1], {1: 1}, np.ones(1), np.ones(1, np.float32), np.ones((1, 1)), [[1]]]
    assert len({digest_of(task) for task in different}) == len(different)


PROGRAM = """
import os, signal, sys
import numpy as np
from gradtape import distributed as gd

def chain(steps, rng):
    if steps == 6 and {kill}:
        os.kill(os.getpid(), signal.SIGKILL)
    return rng.normal(size=steps).cumsum()

if __name__ == "__main__":
    results = gd.map(chain, range(1, 12), seed=2, checkpoint=sys.argv[1], on="synchronous")
    print(b"".join(x.tobytes() for x in results).hex())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_program_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    """A program that is killed in the middle has the results before, and the next run gives those of one run."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    codes, printed = [], ""
    for kill in (True, False):
        script = tmp_path / "chains.py"
        script.write_text(PROGRAM.format(kill=kill))
        command = [sys.executable, str(script), str(tmp_path / "chains.results")]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
        codes.append(done.returncode)
        printed = done.stdout.strip()
    assert codes == [-signal.SIGKILL, 0]
    assert printed == bits(gd.map(walk, range(1, 12), seed=2)).hex()


PROCESSES = """
import os, signal, sys
from gradtape import distributed as gd

def fragile(task, rng):
    if task == 2 and not os.path.exists(sys.argv[1]):
        open(sys.argv[1], "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return task, rng.integers(1000)

if __name__ == "__main__":
    if sys.argv[2] == "fatal":
        try:
            gd.map(fragile, range(2, 4), on="processes", retries=0)
        except gd.TaskError as error:
            print(type(error.failures[0]).__name__)
    print(gd.map(fragile, range(2, 4), on="processes") == gd.map(fragile, range(2, 4), on="synchronous"))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize(
    ("how", "says"), [("lost", ["True"]), pytest.param("fatal", ["LostProcess", "True"], marks=pytest.mark.slow)]
)
def test_lost_processes_are_started_again(tmp_path: Path, how: str, says: list[str]) -> None:
    """A process that is killed costs its tasks time; without retries it is an error of the tasks that it had."""
    script = tmp_path / "fragile.py"
    script.write_text(textwrap.dedent(PROCESSES))
    command = [sys.executable, str(script), str(tmp_path / "killed"), how]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=240, check=False)
    assert done.stdout.split() == says, done.stderr
