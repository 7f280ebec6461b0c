"""Values that a thread computes without seeing the tape: the gradient that is lost is explained."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import gradtape as gt


def in_thread(x: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: np.sin(x) * x).result()


def in_thread_with_context(x: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(contextvars.copy_context().run, lambda: np.sin(x) * x).result()


def test_a_part_that_a_thread_computed_is_warned_of() -> None:
    """What comes back from the thread is a constant on the way to the target."""
    v = gt.Variable(1.3)
    with gt.GradientTape() as tape:
        y = in_thread(v) * v
    with pytest.warns(gt.GradientWarning, match=r"GT211.*computed in a thread that does not see the tape"):
        tape.gradient(y, v)


def test_a_gradient_that_is_missing_names_the_thread() -> None:
    """Where all of it was computed in the thread, the reason of the missing gradient is that."""
    with pytest.warns(gt.GradientWarning, match=r"computed in a thread that does not see the tape"):
        assert gt.grad(in_thread)(1.3) == 0.0


FORWARD: dict[str, Callable[[Callable[[Any], Any]], Any]] = {
    "jvp": lambda f: gt.jvp(f, (1.3,), (1.0,))[1],
    "jacfwd": lambda f: gt.jacfwd(f)(1.3),
    "linearize": lambda f: gt.linearize(f, 1.3)[1](1.0),
}


@pytest.mark.parametrize("way", FORWARD)
def test_a_tangent_that_a_thread_loses_is_warned_of(way: str) -> None:
    """Forward mode loses what the thread computed, too."""
    with pytest.warns(gt.GradientWarning, match=r"GT211.*computed in a thread that does not see the tape"):
        FORWARD[way](lambda x: in_thread(x) * x)


@pytest.mark.parametrize("way", FORWARD)
def test_a_thread_in_a_copy_of_the_context_has_the_tangent(way: str) -> None:
    """The fix holds for forward mode."""
    expected = 2 * 1.3 * np.sin(1.3) + 1.3**2 * np.cos(1.3)
    assert np.allclose(FORWARD[way](lambda x: in_thread_with_context(x) * x), expected)


def test_a_copy_of_the_context_is_the_fix() -> None:
    """The function that runs in a copy of the context is recorded."""
    assert np.allclose(gt.grad(in_thread_with_context)(1.3), np.sin(1.3) + 1.3 * np.cos(1.3))


def test_a_value_that_does_not_come_back_is_no_loss() -> None:
    """A thread may read what a tape watches, for a log."""
    v = gt.Variable(1.3)
    with gt.GradientTape() as tape:
        y = v * v
        in_thread(v)
    assert float(tape.gradient(y, v)) == 2.6
