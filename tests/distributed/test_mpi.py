"""Derivatives and training on ranks of MPI: real processes, started by mpiexec."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("dask.array", reason="Dask is not installed: there are no rows in chunks")
pytest.importorskip("mpi4py", reason="mpi4py is not installed: nothing is tested on ranks of MPI")

from tests.distributed import mpi_program

MPIEXEC = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
ROOT = Path(__file__).parent.parent.parent
WAIT = 240  # seconds, at most, for an answer

pytestmark = pytest.mark.skipif(MPIEXEC is None, reason="there is no mpiexec: nothing is tested on ranks of MPI")


def on_ranks(count: int, task: str, *arguments: str) -> list[str]:
    """What each of `count` ranks has found."""
    assert MPIEXEC is not None
    done = subprocess.run(
        [MPIEXEC, "-n", str(count), sys.executable, "-m", "tests.distributed.mpi_program", task, *arguments],
        **{"capture_output": True, "text": True, "timeout": WAIT, "check": False, "cwd": ROOT},
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split(" ", 1) for line in done.stdout.splitlines()]
    assert [int(rank) for rank, _ in lines] == list(range(count))
    return [text for _, text in lines]


@pytest.mark.parametrize("count", [1, 3])
def test_bits_are_those_of_one_process(count: int) -> None:
    """Gradients and products have the same bits on any number of ranks, and all ranks have them."""
    assert on_ranks(count, "gradients") == [mpi_program.gradients("synchronous")] * count


def test_training_goes_on_from_a_file_with_the_same_bits(tmp_path: Path) -> None:
    """`fit` on two ranks, interrupted after an epoch, ends where one process ends; one rank stores the file."""
    expected = mpi_program.training("synchronous")
    assert on_ranks(2, "interrupted", str(tmp_path / "run.safetensors")) == [expected] * 2


def test_other_parameters_on_a_rank_are_refused_on_all() -> None:
    """A starting point that each rank draws by itself is no common one."""
    said = on_ranks(2, "other_parameters")
    assert set(said) == {
        "[GT314] gt.distributed.value_and_grad: rank 1 called with other parameters, arguments or rows than rank 0"
    }


def test_an_error_on_one_rank_ends_the_call_on_all() -> None:
    """The rank that fails raises its error, and the others name it, instead of waiting for ever."""
    first, second = on_ranks(2, "failing_rank")
    assert second == "ValueError: this chunk cannot be read"
    assert "rank 1 failed, so that there is no sum: ValueError: this chunk cannot be read" in first
