"""Every operation of the table, compiled: value, gradient and second order are those of the eager library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from ops.cases import DIFFERENTIABLE, OPERATIONS, Case, cases, directions, parts

import gradtape as gt
from gradtape.core.rules import TABLE
from gradtape.jit import jit, verify


def assert_same(actual: Any, expected: Any, tolerance: float = 1e-13) -> None:
    """Two results have the same shapes and dtypes, and the same numbers to a few units in the last place."""
    assert len(parts(actual)) == len(parts(expected))
    for a, b in zip(parts(actual), parts(expected), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        scale = np.max(np.abs(b[np.isfinite(b)]), initial=1.0) if b.dtype.kind in "fc" else 0
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * scale)


def compiled(function: Any, *arrays: Any) -> Any:
    """The answer of a compiled function in its second call, after both its programs were verified."""
    step = jit(function)
    step(*arrays)
    verify(step.traced)
    verify(step.program)
    answer = step(*arrays)
    assert (step.stats.traces, step.stats.uncompiled) == (1, 0)
    return answer


@pytest.fixture(autouse=True)
def on_purpose() -> Iterator[None]:
    """Nothing is said of arguments without effect: the derivative of a sign is tried on purpose."""
    with gt.explain.configure(GT201="off"):
        yield


class Sealed:
    """Holds a case in a slot, where its arrays (an index among the parameters, say) stay what they are."""

    __slots__ = ("case",)

    def __init__(self, case: Case) -> None:
        self.case = case

    def at(self, *values: Any) -> Any:
        return self.case.at(*values)


def gradient_of(case: Case) -> Any:
    """The gradient of a weighted sum of the results, as a function of the inputs that can move."""
    weights = directions([np.asarray(part) for part in parts(case.kernel(*case.point))], 1)
    together = tuple(weights) if isinstance(case.kernel(*case.point), tuple) else weights[0]
    sealed = Sealed(case)
    return lambda *values: tuple(gt.vjp(sealed.at, *values)[1](together))


@pytest.mark.parametrize("name", OPERATIONS)
def test_value_is_the_eager_one(name: str) -> None:
    """Compiled, an operation gives what its kernel gives, in the same shape and dtype."""
    for case in cases(TABLE[name]):
        moving = [i for i, a in enumerate(case.arrays) if isinstance(a, np.ndarray | np.generic)]

        sealed = Sealed(case)

        def at(*values: Any, sealed: Sealed = sealed, moving: list[int] = moving) -> Any:
            inputs = list(sealed.case.arrays)
            for i, value in zip(moving, values, strict=True):
                inputs[i] = value
            return sealed.case.op(*inputs, **sealed.case.params)

        expected = case.op.kernel(*case.arrays, **case.params)
        assert_same(compiled(at, *[case.arrays[i] for i in moving]), expected)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradient_is_the_eager_one(name: str) -> None:
    """Compiled, the gradient of an operation is the eager one."""
    for case in cases(TABLE[name]):
        if case.moving:
            gradient = gradient_of(case)
            assert_same(compiled(gradient, *case.point), gradient(*case.point))


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_second_order_is_the_eager_one(name: str) -> None:
    """Compiled, the derivative of the gradient along a direction is the eager one; of the first case of each."""
    for case in cases(TABLE[name])[:1]:
        if case.moving:
            gradient = gradient_of(case)
            direction = tuple(directions(case.point, 2))

            def curved(*values: Any, gradient: Any = gradient, direction: Any = direction) -> Any:
                return tuple(gt.vjp(gradient, *values)[1](direction))

            assert_same(compiled(curved, *case.point), curved(*case.point), 1e-11)
