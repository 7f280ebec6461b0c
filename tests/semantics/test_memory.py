"""Long programs: thousands of training steps need no more memory than the first few, long chains no recursion."""

from __future__ import annotations

import gc
import sys
import tracemalloc
import weakref
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


@pytest.mark.usefixtures("without_collector")
def test_many_operations_on_a_tape() -> None:
    """A chain of 200 000 operations is recorded, walked in one go, and freed by counts of references."""
    steps = 200_000
    x = gt.Variable(1.0)
    with gt.GradientTape() as tape:
        y: Any = x
        for _ in range(steps):
            y = y + x
    node = weakref.ref(y._node.parents[0])
    assert float(tape.gradient(y, x)) == steps + 1
    assert node() is None


@pytest.mark.usefixtures("without_collector")
def test_a_long_chain_dropped_without_a_question() -> None:
    """A long chain that no gradient is taken of is freed without recursion."""
    x = gt.Variable(1.0)
    with gt.GradientTape(persistent=True):
        y: Any = x
        for _ in range(100_000):
            y = -y
        node = weakref.ref(y._node.parents[0])
        del y
    assert node() is None


def test_thousands_of_training_steps_do_not_grow() -> None:
    """Neither objects nor bytes accumulate over thousands of steps of a small model."""
    generator = np.random.default_rng(0)
    inputs, outputs = generator.normal(size=(8, 3)), generator.normal(size=8)
    weights, bias = gt.Variable(np.zeros(3)), gt.Variable(0.0)

    def train(steps: int) -> float:
        loss = gt.tensor(0.0)
        for _ in range(steps):
            with gt.GradientTape() as tape:
                loss = np.mean((inputs @ weights + bias - outputs) ** 2)
            for_weights, for_bias = tape.gradient(loss, (weights, bias))
            weights.assign_sub(0.05 * for_weights)
            bias.assign_sub(0.05 * for_bias)
        return float(loss)

    first = train(1000)
    gc.collect()
    objects = len(gc.get_objects())
    tracemalloc.start()
    try:
        train(100)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        train(900)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    last = train(2000)
    gc.collect()
    assert len(gc.get_objects()) - objects < 100
    assert grown < 20_000
    assert last <= first


@pytest.mark.usefixtures("without_collector")
def test_many_operations_behind_a_backward_pass() -> None:
    """A chain of 200 000 operations is walked in one go, and freed by counts of references."""
    x = gt.tensor(1.0, requires_grad=True)
    y: Any = x
    for _ in range(200_000):
        y = -y
    node = weakref.ref(y._node.parents[0])
    y.backward()
    assert float(x.grad) == 1.0
    assert node() is None
