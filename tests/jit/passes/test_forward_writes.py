"""Sums with arrays that were set to zero are the other operand; sums with zeros that a program adds are taken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradient_of_a_buffer_that_is_overwritten_adds_no_zeros(dtype: Any) -> None:
    """The gradient of `new[...] = ...; old[:] = new` in a loop has no sum with an array of zeros."""

    def diffuse(u: Any) -> Any:
        new = np.zeros_like(u)
        for _ in range(40):
            new[1:-1] = u[1:-1] * 0.5 + 0.25 * (u[2:] + u[:-2])
            new[0], new[-1] = new[-2], new[1]
            u[:] = new
        return np.sum(u**2)

    u = np.sin(np.linspace(0.0, 5.0, 30)).astype(dtype)
    precision = 10 * float(np.finfo(dtype).eps)
    step = gt.value_and_grad(diffuse)
    compiled = gt.jit(step)
    for _ in range(2):
        found, expected = compiled(u.copy()), step(u.copy())
        np.testing.assert_allclose(found[0], expected[0], rtol=precision)
        np.testing.assert_allclose(found[1], expected[1], rtol=10 * precision, atol=precision)
        assert found[1].dtype == dtype
    program = compiled.lower(u.copy())
    bodies = [i.params["loop"].body for i in program.instructions if i.name == "loop"]
    for part in (program, *bodies):
        zeros = {constant.value for constant in part.constants if constant.array.ndim and not constant.array.any()}
        assert not [i for i in part.instructions if i.name == "add" and zeros & {*i.values}]


def test_zeros_that_a_program_adds_are_added() -> None:
    """-0.0 + 0.0 is 0.0, also where other zeros of that size were written to an array."""

    def add_zeros(x: Any) -> Any:
        buffer = np.ones_like(x)
        buffer[:] = 0.0
        return x + np.zeros(5), x * 2.0 + buffer[0]

    x = np.array([-0.0, 0.0, 1.0, -0.0, 2.0])
    for function in (add_zeros, gt.jit(add_zeros)):
        first, _ = function(x)
        assert not np.signbit(first).any()
