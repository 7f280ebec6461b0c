"""Threads: several at once that call and compile, and native loops split over several."""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit import jit
from gradtape.jit.native.runtime.llvm import once
from gradtape.jit.native.runtime.pool import pool

from .stress import stress


@pytest.mark.filterwarnings(r"ignore:\[GT701\]")  # many shapes are the point; it is said if compiling takes long enough
def test_eight_threads_call_and_compile_at_once() -> None:
    """No answer differs from that of a single thread in any bit, and nothing fails."""
    report = stress(seconds=2.5, threads=8, shapes=12, numbers=200)
    assert report.failed == []
    assert report.wrong == []
    assert report.calls >= 8


def large(x: Any, y: Any) -> Any:
    z = np.exp(np.sin(x)) * y
    return np.sum(np.tanh(z) * x, axis=0), np.sum(z), z


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_number_of_threads_changes_no_bit(monkeypatch: pytest.MonkeyPatch, dtype: Any) -> None:
    """Large loops and sums give the same bits over 1, 2, 3 and 4 threads, and are split where there are several."""
    generator = np.random.default_rng(0)
    x, y = (generator.normal(size=(600, 700)).astype(dtype) for _ in range(2))
    step = jit(gt.value_and_grad(lambda x, y: sum(np.sum(part) for part in large(x, y))))
    forward = jit(large)
    divided = []
    answers = []
    for count in (1, 2, 3, 4, 1):
        monkeypatch.setattr(gt.config, "threads", count)
        before = pool().regions
        value, gradient = step(x, y)
        answers.append([np.asarray(part).tobytes() for part in (value, gradient, *forward(x, y))])
        divided.append(pool().regions > before)
    assert all(answer == answers[0] for answer in answers)
    assert divided == [False, True, True, True, False]


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2", True])
def test_a_number_of_threads_is_a_number(wrong: Any) -> None:
    """What is no count of threads is refused, and the setting stays."""
    before = gt.config.threads
    with pytest.raises(gt.GradTapeError, match="at least 1"):
        gt.config.threads = wrong
    assert gt.config.threads == before


def test_what_native_code_has_in_common_is_made_once() -> None:
    """However many threads ask for it first, there is one answer, and none that was handed out is dropped."""
    answers: list[Any] = []
    start = threading.Barrier(8)

    @once
    def made(name: str) -> list[int]:
        return [number * number for number in range(50_000)]  # long enough for others to ask meanwhile

    def ask() -> None:
        start.wait()
        answers.append(made("entry"))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    workers = [threading.Thread(target=ask) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    sys.setswitchinterval(before)
    assert len({id(answer) for answer in answers}) == 1
    assert made("another") is not answers[0]


def test_eviction_while_others_call() -> None:
    """Threads whose forms push each other out of a cache of one all get their answers."""
    step = jit(lambda x: np.sum(np.sin(x) * 2.5), cache_size=1)
    expected = {size: jit(lambda x: np.sum(np.sin(x) * 2.5))(np.arange(size) / 7.0) for size in (3, 4)}
    wrong: list[Any] = []

    def call(size: int) -> None:
        x = np.arange(size) / 7.0
        for _ in range(40):
            try:
                if step(x) != expected[size]:
                    wrong.append(size)
            except BaseException as error:
                wrong.append(error)
                raise

    workers = [threading.Thread(target=call, args=(size,)) for size in (3, 4, 3, 4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []
