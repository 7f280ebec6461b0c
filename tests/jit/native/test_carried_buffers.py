"""Loops whose carried arrays change places, are written in place, stay, or are stacked: the numbers of eager mode.

Native code hands on the buffers of carried arrays instead of copying them. The loops are drawn at random; run more of
them than the tests do by `python -m tests.jit.native.test_carried_buffers 1000`.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt

SIZES = [1, 3, 70, 130]


def draw_step(rng: random.Random, count: int) -> list[tuple[str, int, int]]:
    """For each carried array what its next version is: how it is made, and of which ones."""
    kinds = ["same", "same", "fresh", "part", "element", "twice"]
    return [(rng.choice(kinds), rng.randrange(count), rng.randrange(count)) for _ in range(count)]


def make(kind: str, a: Any, b: Any) -> Any:
    """The next version of a carried array."""
    if kind == "same":
        return a
    if kind == "fresh":
        return np.tanh(a * 0.9 + b * 0.3)
    new = a + 0.0 if kind == "twice" else a.copy()
    if kind == "element":
        new[0] = b[-1] * 0.7
    else:
        new[: (len(a) + 1) // 2] = np.sin(b[: (len(a) + 1) // 2]) * 0.8
    if kind == "twice":
        new[-1] = new[-1] * 0.5 + new[0] * 0.1
    return new


def draw_loop(seed: int) -> tuple[Callable[..., Any], list[Any]]:
    """A function of the first versions of some arrays, and these."""
    rng = random.Random(seed)
    count, size, steps = rng.randint(1, 4), rng.choice(SIZES), rng.choice([1, 2, 3, 7, 60])
    plan, stacked = draw_step(rng, count), rng.sample(range(count), rng.randint(0, count))
    reverse, written_out, scaled = rng.random() < 0.3, rng.random() < 0.5, rng.random() < 0.5

    def step(carry: Any, row: Any) -> Any:
        new = [make(kind, carry[i], carry[j]) for kind, i, j in plan]
        new[0] = new[0] * row if scaled else new[0]
        return tuple(new), tuple([carry[i] for i in stacked[::2]] + [new[i] for i in stacked[1::2]])

    def scanned(*carry: Any) -> Any:
        last, stacks = gt.scan(step, carry, np.linspace(0.5, 1.0, steps), reverse=reverse)
        return sum([np.sum(x * x) for x in last]) + sum([np.sum(np.sin(x)) for x in stacks])

    def repeated(*carry: Any) -> Any:
        total = 0.0
        for t in range(60):
            carry, kept = step(carry, 1.0 - 0.001 * t)
            total = total + sum([np.sum(np.sin(x)) for x in kept])
        return total + sum([np.sum(x * x) for x in carry])

    values = np.random.default_rng(seed)
    return (repeated if written_out else scanned), [values.normal(size=size) for _ in range(count)]


def check(seed: int) -> None:
    """Value and gradient of a loop, compiled with checks and eager; the arguments stay as they are."""
    with gt.explain.configure(GT201="off", GT202="off"):  # not every array matters
        compare(*draw_loop(seed), f"seed {seed}")


def compare(function: Callable[..., Any], arguments: list[Any], which: str) -> None:
    """Compare the compiled function with the eager one."""
    step = gt.value_and_grad(function, argnums=tuple(range(len(arguments))))
    compiled = gt.jit(step)
    expected = step(*[x.copy() for x in arguments])
    for _ in range(2):
        given = [x.copy() for x in arguments]
        found = compiled(*given)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-10, err_msg=which)
        for one, other in zip(found[1], expected[1], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12, err_msg=which)
        for one, other in zip(given, arguments, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_random_loops(first: int) -> None:
    """Loops that copy, exchange, write in place, keep and stack what they carry."""
    for seed in range(first, first + 8):
        check(seed)


if __name__ == "__main__":
    gt.config.check = "memory"
    for number in range(int(sys.argv[1])):
        check(number)
    print(f"{sys.argv[1]} loops, none different")
