"""The programs in examples/ run, without a terminal, and print what they are there to show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"

RUNS = {
    "tour.py": ([], ["gradient of shape (2, 2)", "t.grad [1. 4. 9.]", "fitting [", "tour.py:", "no gradient:"]),
    "fit_sine.py": (["--steps", "60"], ["fitting [", "60/60", "mean squared error"]),
    "fit_pendulum.py": ([], ["method trf", "x['friction']", "counts most"]),
    "train_spirals.py": (["--epochs", "30"], ["History of 30 epochs", "accuracy", "are told apart"]),
    "rosenbrock_scipy.py": ([], ["finite differences", "Hessian products"]),
    "rows_beyond_memory.py": (["--rows", "20000", "--chunk", "4000"], ["in 5 chunks of 2 MB", "passes, loss", "peak"]),
    "ode_ensemble.py": (["--members", "6"], ["6 fits", "growth  1.", "limit   "]),
    "train_on_workers.py": (["--epochs", "2", "--eager"], ["a worker of 2 is killed", "the same bits"]),
    "sparse_pde.py": (["--points", "12"], ["144 unknowns", "the Jacobian stores 672 of 20736 entries"]),
}

NEEDS = {
    "rows_beyond_memory.py": ["dask"],
    "ode_ensemble.py": ["threadpoolctl"],
    "train_on_workers.py": ["distributed"],
}


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run an example as a user would, with warnings as errors."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / script), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )


@pytest.mark.parametrize("script", RUNS)
def test_example_runs(script: str) -> None:
    """The example ends well and shows its result."""
    for library in NEEDS.get(script, ()):
        pytest.importorskip(library, reason=f"{script} needs {library}, which is not installed")
    arguments, shows = RUNS[script]
    done = run(script, *arguments)
    assert done.returncode == 0, done.stderr
    assert [text for text in shows if text not in done.stdout] == []
    assert done.stderr == ""


def test_every_example_is_tested() -> None:
    """No program in examples/ is left out here; progress.py is a part of the others."""
    assert {path.name for path in EXAMPLES.glob("*.py")} == {*RUNS, "progress.py"}


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        ("fit_sine.py", ["--steps", "0"]),
        ("ode_ensemble.py", ["--members", "1"]),
        ("sparse_pde.py", ["--points", "1"]),
        ("sparse_pde.py", ["--strength", "0"]),
    ],
)
def test_bad_arguments_are_refused(script: str, arguments: list[str]) -> None:
    """A number that makes no sense is refused with a message that says what is accepted."""
    done = run(script, *arguments)
    assert done.returncode == 2
    assert "at least" in done.stderr


def test_tour_fits_its_model() -> None:
    """The fit in the tour arrives: its loss ends a hundred times smaller."""
    lines = run("tour.py").stdout.splitlines()
    before, after = (
        next(float(line.split()[-1]) for line in lines if line.startswith(start))
        for start in ("loss before", "loss after")
    )
    assert after < before / 100
