"""What the machine can do at most: bytes a second to and from memory, and operations a second of matrix products.

Both are measured when they are first asked for, which takes some tenths of a second, and kept.
"""

from __future__ import annotations

import functools
import math
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradtape.jit.ir.program import Instruction
from gradtape.jit.native.lower import conv
from gradtape.jit.native.runtime import threads

ELEMENTS = 1 << 22
"""Elements of the arrays whose sum measures the bandwidth: 96 MB in all, more than caches hold."""
ORDER = 768
"""Rows of the matrices whose product measures the peak."""
TRIES = 5
GEMM_PEAK = "GEMM peak"
SMALLEST = 2e-6
"""Seconds that a step takes at the limit, below which a share of it means nothing."""


class Work(NamedTuple):
    """What a step moves and computes at least: bytes read and written once, and operations of its products."""

    traffic: int
    products: float
    dtype: np.dtype[Any]

    def limit(self) -> tuple[float, str]:
        """The seconds that this takes at the limit of the machine, and the name of that limit."""
        moving = self.traffic / bandwidth()
        computing = self.products / peak(self.dtype) if self.products else 0.0
        return (computing, GEMM_PEAK) if computing > moving else (moving, "bandwidth")

    def describe(self, seconds: float) -> str:
        """How near a time is to the limit, such as `at 60 % of bandwidth`; empty for short steps."""
        least, name = self.limit()
        if least < SMALLEST or seconds <= 0.0:
            return ""
        share = least / seconds
        if share <= 1.0:
            return f"at {share:.0%} of {name}"
        return "at the GEMM peak" if name == GEMM_PEAK else "faster than bandwidth: in the cache"


def work_of(instructions: tuple[Instruction, ...], traffic: int) -> Work:
    """The work of a step whose operands and results have `traffic` bytes."""
    counted = [part for instruction in instructions for part in _products(instruction, 1)]
    largest = max(counted, key=lambda part: part[0], default=(0.0, np.dtype(float)))
    return Work(traffic, sum(count for count, _ in counted), largest[1])


def _products(instruction: Instruction, times: int) -> list[tuple[float, np.dtype[Any]]]:
    """Operations of the matrix products and convolutions of an instruction, those of loops for all steps."""
    if instruction.op.kind == "loop":
        loop = instruction.params["loop"]
        steps = times * getattr(loop, "length", 1)  # at least one, where the number depends on values
        return [part for inner in loop.body.instructions for part in _products(inner, steps)]
    if instruction.name == "matmul":
        result = instruction.results[0]
        return [(2.0 * times * result.size * instruction.values[0].shape[-1], result.dtype)]
    if instruction.name in conv.NAMES:
        return [(2.0 * times * conv.multiplications(instruction), instruction.results[0].dtype)]
    return []


@functools.cache
def bandwidth() -> float:
    """Bytes a second that a sum of two large arrays moves, with all threads that compiled code uses."""
    left, right, out = (np.ones(ELEMENTS) for _ in range(3))
    return 3.0 * left.nbytes / _best(lambda: _add(left, right, out))


@functools.cache
def peak(dtype: np.dtype[Any]) -> float:
    """Operations a second of a product of square matrices, by BLAS."""
    kind = dtype if dtype in (np.dtype(np.float32), np.dtype(np.float64)) else np.dtype(np.float64)
    left, right, out = (np.ones((ORDER, ORDER), kind) for _ in range(3))
    return 2.0 * ORDER**3 / _best(lambda: np.matmul(left, right, out=out))


def _add(left: Any, right: Any, out: Any) -> None:
    """The sum of two arrays by as many threads as there are: NumPy lets others run meanwhile."""
    count = threads.count()
    size = math.ceil(left.size / count)
    parts = [slice(place, place + size) for place in range(0, left.size, size)]
    workers = [_start(left[part], right[part], out[part]) for part in parts[1:]]
    np.add(left[parts[0]], right[parts[0]], out=out[parts[0]])
    for worker in workers:
        worker.join()


def _start(left: Any, right: Any, out: Any) -> Any:
    worker = threading.Thread(target=np.add, args=(left, right, out))
    worker.start()
    return worker


def _best(call: Callable[[], Any]) -> float:
    best = math.inf
    for _ in range(TRIES):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best
