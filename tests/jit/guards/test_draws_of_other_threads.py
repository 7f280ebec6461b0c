"""Random numbers that other threads draw while a function is traced: only those of the tracing thread count."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit import JitWarning, jit
from gradtape.jit.trace import tracer

X = np.linspace(0.1, 1.0, 5)
SHARED = np.random.default_rng(3)
DRAWS: dict[str, Callable[[], Any]] = {
    "random": random.random,
    "np.random": np.random.normal,
    "generator": SHARED.normal,
}


class Other:
    """A thread that draws when it is asked to, and is waited for."""

    def __init__(self) -> None:
        self.asked, self.done, self.is_over = threading.Semaphore(0), threading.Semaphore(0), False
        self.draw: Callable[[], Any] = random.random
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        while self.asked.acquire() and not self.is_over:
            self.draw()
            self.done.release()

    def ask(self) -> None:
        self.asked.release()
        assert self.done.acquire(timeout=60)

    def stop(self) -> None:
        self.is_over = True
        self.asked.release()
        self.thread.join()


@pytest.fixture
def other() -> Iterator[Other]:
    thread = Other()
    yield thread
    thread.stop()


@pytest.mark.parametrize("source", DRAWS)
def test_a_draw_of_another_thread_keeps_nothing_from_being_compiled(source: str, other: Other) -> None:
    """What another thread draws in the middle of the function's own code does not make the function a drawing one."""
    other.draw = DRAWS[source]
    once = threading.Lock()  # once: Dask's workers draw twice a second, and a trace takes some milliseconds

    def loss(x: Any) -> Any:
        y = np.sin(x) if SHARED is not None else x
        if once.acquire(blocking=False):
            other.ask()
        return np.sum(y * x)

    step = jit(gt.value_and_grad(loss))
    value, gradient = step(X)
    assert step.stats.uncompiled == 0
    assert step.stats.runs == 1
    assert value == pytest.approx(np.sum(np.sin(X) * X))
    np.testing.assert_allclose(gradient, np.cos(X) * X + np.sin(X))


@pytest.mark.parametrize("source", DRAWS)
def test_a_thread_that_draws_all_the_time(source: str, other: Other, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that draws whenever it has its turn does not keep a function from being compiled, nor is it set back."""
    drawn = []
    once = threading.Lock()

    def draw() -> None:
        drawn.append(DRAWS[source]())

    def ask_first(op: Any, samples: Any, params: Any, computed: Any = tracer._compute) -> Any:
        if once.acquire(blocking=False):  # in the first attempt
            other.ask()
        return computed(op, samples, params)

    other.draw = draw
    monkeypatch.setattr(tracer, "YIELD_INTERVAL", -1.0)
    monkeypatch.setattr(tracer.time, "sleep", lambda seconds: other.ask())
    monkeypatch.setattr(tracer, "_compute", ask_first)

    def loss(x: Any) -> Any:
        return np.sum(np.sin(x) * x) if SHARED is not None else x

    step = jit(gt.value_and_grad(loss))
    value, gradient = step(X)
    assert step.stats.uncompiled == 0
    assert step.stats.runs == 1
    assert value == pytest.approx(np.sum(np.sin(X) * X))
    np.testing.assert_allclose(gradient, np.cos(X) * X + np.sin(X))
    assert len(drawn) > 3
    assert len({*drawn}) == len(drawn)  # no number was given out twice


@pytest.mark.parametrize("source", DRAWS)
def test_draws_of_another_thread_in_every_attempt(source: str, other: Other, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that draws between operations in every attempt, each time elsewhere, is not taken for the function."""
    other.draw = DRAWS[source]
    attempts: list[Any] = []
    once = threading.Lock()
    compute = tracer.TracingLevel._compute_watching_draws

    def ask_elsewhere(level: Any, op: Any, samples: Any, params: Any) -> Any:
        if level not in attempts:
            attempts.append(level)
        if level._watched == len(attempts):
            other.ask()
        return compute(level, op, samples, params)

    def loss(x: Any) -> Any:
        if once.acquire(blocking=False):  # in the first attempt
            other.ask()
        y = np.sin(np.sin(np.sin(x))) if SHARED is not None else x
        return np.sum(y)

    monkeypatch.setattr(tracer.TracingLevel, "_compute_watching_draws", ask_elsewhere)
    step = jit(gt.value_and_grad(loss))
    value, _ = step(X)
    assert step.stats.uncompiled == 0
    assert step.stats.runs == 1
    assert len(attempts) > 1
    assert value == pytest.approx(np.sum(np.sin(np.sin(np.sin(X)))))


@pytest.mark.parametrize("source", DRAWS)
@pytest.mark.parametrize("through", ["a call", "an iterator"])
def test_own_draws_are_found_beside_others(source: str, through: str, other: Other) -> None:
    """A function that draws is still found out while another thread draws, by whatever way it calls the generator."""
    other.draw = DRAWS[source]
    own = DRAWS[source]

    def noisy(x: Any) -> Any:
        y = np.sin(x)
        drawn = own() if through == "a call" else next(iter(own, None))
        return np.sum(y * drawn)

    step = jit(noisy)
    with pytest.warns(JitWarning, match="draws random numbers"):
        first = step(X)
    assert step.stats.uncompiled == 1
    assert first != step(X)


def test_tracing_beside_another_thread_puts_own_draws_back(other: Other) -> None:
    """The answer of a function that draws is that of the first numbers, however often it was traced."""
    rng = np.random.default_rng(11)
    step = jit(lambda x: x + rng.normal(size=5))
    with pytest.warns(JitWarning, match="draws random numbers"):
        found = step(X)
    np.testing.assert_array_equal(found, X + np.random.default_rng(11).normal(size=5))
