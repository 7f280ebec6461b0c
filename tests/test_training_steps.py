"""The training steps of benchmarks/training.py: gradtape's, and the comparison of losses."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from gradtape.extend import Compiled


@pytest.fixture(scope="module")
def training() -> ModuleType:
    """The benchmark as a module."""
    folder = str(Path(__file__).parents[1] / "benchmarks")
    sys.path.insert(0, folder)
    try:
        return importlib.import_module("training")
    finally:
        sys.path.remove(folder)


@pytest.mark.parametrize("name", ["mlp", "lstm"])
def test_a_step_is_traced_once_and_lowers_the_loss(training: ModuleType, name: str) -> None:
    """Loss, gradient and Adam's update are one compiled function, and each step lowers the loss of its batch."""
    step = training.with_gradtape(name)
    losses = [step() for _ in range(3)]
    assert losses == sorted(losses, reverse=True)
    (train,) = [cell.cell_contents for cell in step.__closure__ if isinstance(cell.cell_contents, Compiled)]
    assert (train.stats.traces, train.stats.uncompiled) == (1, 0)


def test_other_losses_are_named(training: ModuleType) -> None:
    """A library whose first losses differ, and one that failed, are named with the reason."""
    found = {
        "gradtape": {"losses": [2.0, 1.0]},
        "jax": {"losses": [2.0, 1.001]},
        "torch": {"losses": [2.0, 1.5]},
        "torch.compile": {"failed": "RuntimeError: no compiler"},
    }
    wrong = training.find_wrong(found)
    assert [reason.split(":")[0] for reason in wrong] == ["torch", "torch.compile"]
