"""Ten thousand training steps need no more memory than the first few."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt

X = np.linspace(-1.0, 1.0, 6).reshape(3, 2)
Y = np.array([0.3, -0.2, 0.9])


def loss(w: Any) -> Any:
    return np.mean((np.tanh(X @ w) - Y) ** 2)


def by_tape() -> Callable[[], None]:
    w = gt.Variable([0.1, -0.3])

    def step() -> None:
        with gt.GradientTape() as tape:
            value = loss(w)
        w.assign_sub(0.01 * tape.gradient(value, w))

    return step


def by_backward() -> Callable[[], None]:
    w = gt.tensor([0.1, -0.3], requires_grad=True)

    def step() -> None:
        loss(w).backward()
        with gt.no_grad():
            w.grad = None

    return step


def by_transform() -> Callable[[], None]:
    run = gt.value_and_grad(loss)
    w = np.array([0.1, -0.3])

    def step() -> None:
        w[:] -= 0.01 * run(w)[1]

    return step


def by_running_average() -> Callable[[], None]:
    """The losses are averaged as numbers, as training loops do for their progress bars."""
    w = gt.Variable([0.1, -0.3])
    average = [0.0]

    def step() -> None:
        with gt.GradientTape() as tape:
            value = loss(w)
        tape.gradient(value, w)
        average[0] = 0.9 * average[0] + 0.1 * float(value)

    return step


@pytest.mark.no_cover
@pytest.mark.parametrize("way", [by_tape, by_backward, by_transform, by_running_average])
def test_training_does_not_grow(way: Callable[[], Callable[[], None]]) -> None:
    """What is held after five hundred steps is what is held after three thousand."""
    step = way()
    for _ in range(500):
        step()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(2500):
        step()
    gc.collect()
    assert sys.getallocatedblocks() - before < 500
