"""Several threads call and compile at once, with thousands of shapes: every answer is compared, bit for bit.

Run for longer than the tests do: `python -m tests.jit.stress --minutes 1 --threads 8`.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import faulthandler
import gc
import threading
import time
import warnings
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.jit import jit

SHARED = np.linspace(-1.0, 1.0, 7)
MEGABYTE = 1 << 20
GROWTH_AT_MOST = 32 * MEGABYTE  # 256 pieces of native code are kept, and some of them only from the second half on


def bare(x: Any) -> Any:
    """Nothing for native code: NumPy's kernels by themselves."""
    return x[0] * 2.0


def tiny(x: Any) -> Any:
    """As little to compile as there can be."""
    return np.sum(x * x)


def small(x: Any) -> Any:
    """A function of native code's own."""
    return np.sum(np.exp(-x * x))


def chain(x: Any) -> Any:
    """Elementwise functions, slices and a reduction."""
    return np.sum(np.tanh(x[1:] - x[:-1]) ** 2) + np.mean(np.exp(-x * x))


def products(x: Any) -> Any:
    """A matrix product, a transposition and a loop that is found again."""
    matrix = np.outer(x, SHARED[:3])
    h = matrix.T @ x
    for _ in range(12):
        h = h - 0.05 * np.sin(h)
    return np.sum(h)


def branch(x: Any) -> Any:
    """A guard: another program for each sign."""
    if np.sum(x) > 0:
        return np.sum(np.log1p(x * x))
    return np.sum(np.sqrt(1.0 + x * x))


def kernels(x: Any) -> Any:
    """Native code between NumPy kernels."""
    return np.sum(np.sort(np.sin(x)) * np.cumsum(np.cos(x)))


FUNCTIONS = (*[bare, tiny] * 12, small, small, chain, products, branch, kernels)


@dataclass
class Report:
    """What has happened."""

    calls: int = 0
    forms: int = 0
    wrong: list[str] = field(default_factory=list)
    failed: list[BaseException] = field(default_factory=list)
    growth: int = 0
    """Bytes that the process has grown by in the second half of the time."""

    def __str__(self) -> str:
        return (
            f"{self.calls} calls, {self.forms} forms, {len(self.wrong)} wrong, {len(self.failed)} errors, "
            f"{self.growth / MEGABYTE:+.1f} MB in the second half"
        )


def resident() -> int:
    """The bytes of memory that the process holds, without what is free; 0 where the system does not tell.

    Each thread has a heap of its own, that grows to what its largest compilation took: that is given back first.
    """
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096
    except OSError:
        return 0


def arguments(number: int, shapes: int) -> tuple[int, np.ndarray[Any, Any]]:
    """Which function, and its argument: the same for the same number, in any thread."""
    generator = np.random.default_rng(number)
    size = 2 + int(generator.integers(shapes))
    x = generator.normal(size=size)
    if number % 3 == 0:
        x = x.astype(np.float32)
    if number % 5 == 0:
        x = np.repeat(x, 2)[::2]  # not in C order
    return number % len(FUNCTIONS), x


class Known:
    """Answers that were computed before, by whichever thread came first: all others have to agree."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: OrderedDict[int, bytes] = OrderedDict()

    def agrees(self, number: int, answer: bytes) -> bool:
        with self._lock:
            known = self._answers.setdefault(number, answer)
            if len(self._answers) > 100_000:
                self._answers.popitem(last=False)
        return known == answer


def written(answer: Any) -> bytes:
    value, gradient = answer
    return np.asarray(value).tobytes() + np.asarray(gradient).tobytes()


def stress(seconds: float, threads: int = 8, shapes: int = 1000, numbers: int = 20_000, seed: int = 0) -> Report:
    """Let `threads` threads call and compile; what they get is compared with one thread's answers at the end."""
    report, known, lock = Report(), Known(), threading.Lock()
    steps = [jit(gt.value_and_grad(function), cache_size=16) for function in FUNCTIONS]
    end = time.monotonic() + seconds
    done = threading.Event()
    met: set[tuple[Any, ...]] = set()
    sample: dict[int, bytes] = {}

    def work(index: int) -> None:
        generator = np.random.default_rng((seed, index))
        calls = 0
        try:
            while not done.is_set() and time.monotonic() < end:
                new = generator.integers(2) == 0  # the others are for what is compiled already
                number = int(generator.integers(numbers if new else 2 * len(FUNCTIONS)))
                which, x = arguments(number, shapes)
                before = x.copy()
                first = written(steps[which](x))
                for _ in range(int(generator.integers(8))):  # the shortest way in is taken from the second call on
                    if written(steps[which](x)) != first:
                        report.wrong.append(f"two calls of {FUNCTIONS[which].__name__} differ, size {x.size}")
                if not known.agrees(number, first) or not np.array_equal(before, x):
                    report.wrong.append(f"{FUNCTIONS[which].__name__} of size {x.size}, {x.dtype}")
                if generator.integers(200) == 0:
                    steps[which].clear()
                with lock:
                    met.add((which, x.shape, x.dtype))
                    if len(sample) < 50:
                        sample[number] = first
                calls += 1
        except BaseException as error:
            report.failed.append(error)
            done.set()
        with lock:
            report.calls += calls

    workers = [threading.Thread(target=work, args=(index,)) for index in range(threads)]
    for worker in workers:
        worker.start()
    middle = 0
    while any(worker.is_alive() for worker in workers):
        workers[0].join(max(0.05, seconds / 50))
        if workers[0].is_alive() is False:
            for worker in workers:
                worker.join()
        if not middle and time.monotonic() > end - seconds / 2:
            middle = resident()
    report.growth = resident() - (middle or resident())
    report.forms = len(met)
    for number, answer in sample.items():  # single-threaded, in functions that nobody else calls
        which, x = arguments(number, shapes)
        alone = jit(gt.value_and_grad(FUNCTIONS[which]))
        if written(alone(x)) != answer or written(alone(x)) != answer:
            report.wrong.append(f"{FUNCTIONS[which].__name__} of size {x.size} alone, {x.dtype}")
        with np.errstate(all="ignore"):
            value, gradient = gt.value_and_grad(FUNCTIONS[which])(x)
        tolerance = 1e-4 if x.dtype == np.float32 else 1e-9
        for found, expected in zip(alone(x), (value, gradient), strict=True):
            if not np.allclose(found, expected, rtol=tolerance, atol=tolerance):
                report.wrong.append(f"{FUNCTIONS[which].__name__} of size {x.size} is not the eager answer, {x.dtype}")
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--shapes", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    faulthandler.enable()
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", r"\[GT701\]")  # many shapes are the point
    report = stress(60 * given.minutes, given.threads, given.shapes, seed=given.seed)
    print(report)
    for text in report.wrong[:10]:
        print("wrong:", text)
    for error in report.failed:
        raise error
    raise SystemExit(bool(report.wrong) or report.growth > GROWTH_AT_MOST)


if __name__ == "__main__":
    main()
