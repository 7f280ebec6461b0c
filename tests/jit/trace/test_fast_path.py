"""The fast paths of traced tensors record what the general path does: the same program, locations and graph."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit.runtime.gc_pause import collect_less_often
from gradtape.jit.trace import fast_path


def operators(x: Any, y: Any) -> Any:
    a = x + y - 2.0 * x / (y + 3) + 1 - y
    b = 2**x + (a @ y) * x**2 + a**y
    return np.sum(b % 7.0) + (1.0 / a)[0] - 3 // 2


def functions(x: Any, y: Any) -> Any:
    return np.sum(np.sin(x) * np.exp(-y)) + np.tanh(x)[1] + np.sqrt(np.abs(y[-1]))


def items(x: Any, y: Any) -> Any:
    first, last = x[0], x[-1]
    return first * last + y[np.array(1)] + np.stack([x, y])[1][2] * first


def written_after_use(x: Any, y: Any) -> Any:
    a = x * 1.5
    b = a * y
    a += 1.0
    c = a * y
    a[0] = 0.5
    return np.sum(b) + np.sum(c * a)


def mixed(x: Any, y: Any) -> Any:
    with gt.no_grad():
        scale = x * 2.0
    return np.sum(x * scale + gt.stop_gradient(y) * x + np.ones(3) * y + np.float64(2.0) * x)


FUNCTIONS = [operators, functions, items, written_after_use, mixed]
X, Y = np.array([0.5, 1.5, 0.75]), np.array([1.25, 0.25, 2.0])


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_fast_path_records_the_same(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Instructions, locations and gradients do not depend on the path."""
    programs, answers = [], []
    for plain in (fast_path._is_plain, lambda *_: False):
        monkeypatch.setattr(fast_path, "_is_plain", plain)
        step = gt.jit(gt.value_and_grad(function, (0, 1)))
        answers.append(step(X, Y))
        programs.append(str(step.traced))
    assert programs[0] == programs[1]
    found, wanted = answers
    for one, other in zip((found[0], *found[1]), (wanted[0], *wanted[1]), strict=True):
        np.testing.assert_array_equal(one, other)


def test_errors_are_those_of_the_general_path() -> None:
    """An error of a kernel is explained as without jit, at the line of the user."""
    with pytest.raises(gt.ShapeError, match=r"\(3,\) and \(4,\)"):
        gt.jit(lambda x, y: x * y)(np.ones(3), np.ones(4))
    with pytest.raises(IndexError, match="3"):
        gt.jit(lambda x: x[3] * 2.0)(np.ones(3))


def test_garbage_is_collected_as_before_when_all_threads_are_done() -> None:
    """Two threads that compile at the same time leave the collector as it was, in whatever order they finish."""
    before = gc.get_threshold()
    entered, left = threading.Event(), threading.Event()

    def other() -> None:
        with collect_less_often():
            entered.set()
            left.wait()

    thread = threading.Thread(target=other)
    with collect_less_often():
        thread.start()
        entered.wait()
    assert gc.get_threshold() != before
    left.set()
    thread.join()
    assert gc.get_threshold() == before
