"""Random programs of views and writes give what a model gives that copies everything (see `random_writes`)."""

from __future__ import annotations

import warnings

import pytest

import gradtape as gt
from gradtape.core import backprop
from tests.semantics.random_writes import CHECKS, differences
from tests.semantics.write_programs import Program

EAGER = [check for check in CHECKS if not check.startswith("compiled")]


def _check(seeds: range, checks: list[str]) -> None:
    for seed in seeds:
        program = Program(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gt.GradientWarning)  # some programs do not depend on an argument
            assert differences(program, checks) == [], f"seed {seed}\n{program.source}"


@pytest.mark.parametrize("start", range(0, 40, 10))
def test_eager(start: int) -> None:
    """Values, gradients, tangents, second derivatives and batches are those of the model."""
    _check(range(start, start + 10), EAGER)


@pytest.mark.parametrize("start", range(300, 320, 10))
def test_eager_with_the_rules_for_large_arrays(start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with the rules that write over large cotangents, and add to elements of them, whatever the size is."""
    monkeypatch.setattr(backprop, "LARGE", -1)
    _check(range(start, start + 10), EAGER)


@pytest.mark.parametrize("start", range(1000, 1030, 5))
def test_compiled(start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled values and gradients are those of the model, with every access to memory checked."""
    monkeypatch.setattr(gt.config, "check", "memory")
    _check(range(start, start + 5), ["compiled", "compiled gradient"])


def test_array_that_a_loop_carries_and_stacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a loop writes in place has the memory of what it carries; the stack of it, for the gradient, has its own."""
    monkeypatch.setattr(gt.config, "check", "memory")
    program = Program(0)
    program.source = """
def program(x, y):
    for t in range(13):
        x[...] = np.sin(x + y)
        y[:1] *= x[:1]
    return (x * x).sum() + (y * x).sum()
"""
    assert differences(program, ["compiled", "compiled gradient"]) == []
