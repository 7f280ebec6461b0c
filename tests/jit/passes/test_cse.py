"""What a loop stacks twice is stacked once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt


def shortest(path: Any) -> Any:
    for k in range(len(path)):
        path[:] = np.minimum(path, path[:, k, None] + path[None, k, :])
    return np.sum(np.sqrt(1.0 + path))


def relaxed(x: Any) -> Any:
    for _ in range(12):
        x[...] = np.sin(x) * x + np.cos(x[::-1])
    return np.sum(x * x)


def rows(x: Any) -> Any:
    """A loop in a loop, in which the write is."""
    total = 0.0
    for t in range(10):
        for _ in range(9):
            x[t % 3, :] = np.tanh(x[t % 3]) * 1.1 + x[0]
        total = total + x.sum()
    return total


@pytest.mark.parametrize("function", [shortest, relaxed, rows])
def test_no_value_is_stacked_twice(function: Any) -> None:
    x = 1.0 + np.random.default_rng(3).random((9, 9))
    compiled = gt.jit(gt.value_and_grad(function))
    value, gradient = compiled(x.copy())
    expected_value, expected = gt.value_and_grad(function)(x.copy())
    np.testing.assert_allclose(value, expected_value, rtol=1e-13)
    np.testing.assert_allclose(gradient, expected, rtol=1e-12)
    loops = _loops(compiled.program)
    assert loops
    for loop in loops:
        stacks = list(zip(loop.body.outputs[loop.carried :], loop.stacked, strict=True))
        assert len(stacks) == len(set(stacks))


def _loops(program: Any) -> list[Any]:
    own = [instruction.params["loop"] for instruction in program.instructions if instruction.name == "loop"]
    return own + [inner for loop in own for inner in _loops(loop.body)]
