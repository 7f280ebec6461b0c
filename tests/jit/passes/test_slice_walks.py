"""Loops read rows of an array through a slice of it: the slice is not made, and the same rows are read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt


@pytest.mark.parametrize("rows", [slice(2, None), slice(None, -3), slice(None, None, 3), slice(None, None, -1)])
@pytest.mark.parametrize("reverse", [False, True])
def test_loop_along_a_slice(rows: slice, reverse: bool) -> None:
    """Value and gradient are those of eager mode, and no instruction but the loops reads the slice."""

    def fold(x: Any, w: Any) -> Any:
        last, states = gt.scan(lambda h, row: (np.tanh(w * h + row),) * 2, np.zeros(3), x[rows], reverse=reverse)
        return np.sum(last) + np.sum(states * states)

    x = np.random.default_rng(3).normal(size=(60, 3))
    step = gt.value_and_grad(fold, argnums=(0, 1))
    compiled = gt.jit(step)
    for _ in range(2):
        found, expected = compiled(x, 0.7), step(x, 0.7)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-13)
        for one, other in zip(found[1], expected[1], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-15)
    program = gt.jit(fold).lower(x, 0.7)
    assert "getitem" not in [instruction.name for instruction in program.instructions]


def test_nested_slices_and_other_axes() -> None:
    """A slice of a slice is walked along in the array; one along another axis is left."""

    def fold(x: Any) -> Any:
        rows = x[1:][2::2]
        first = gt.scan(lambda h, row: (np.tanh(h + row), None), np.zeros(4), rows)[0]
        part = gt.scan(lambda h, row: (np.tanh(h + row), None), np.zeros(2), x[3:, 1:3])[0]
        return np.sum(first) * np.sum(part)

    x = np.random.default_rng(4).normal(size=(50, 4))
    step = gt.value_and_grad(fold)
    found, expected = gt.jit(step)(x), step(x)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-13)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12, atol=1e-15)
    names = [instruction.name for instruction in gt.jit(fold).lower(x).instructions]
    assert names.count("getitem") == 1
