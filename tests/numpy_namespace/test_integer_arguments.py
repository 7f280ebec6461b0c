"""Shapes, axes, shifts and counts that are arrays of integers of the module: eager, and compiled as inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gradtape as gt
import gradtape.numpy as np

SHIFTS = numpy.array([[1, 0], [0, -1], [2, 1]])
SHAPE, ORDER, COUNTS, WIDTHS = (numpy.array(v) for v in ([4, 3], [1, 0], [1, 2, 0, 1], [[1, 0], [0, 2]]))
WEIGHTS = numpy.arange(12.0).reshape(3, 4)

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "roll": lambda x: np.sum(np.roll(x, SHIFTS[2], axis=ORDER) * WEIGHTS),
    "roll in a loop": lambda x: sum(np.sum(np.roll(x, shift, axis=(1, 0)) * WEIGHTS) for shift in SHIFTS),
    "reshape": lambda x: np.sum(x.reshape(SHAPE)[0] ** 2),
    "resize": lambda x: np.sum(np.resize(x, SHAPE + 1) ** 3),
    "full": lambda x: np.sum(np.full(SHAPE, x[0, 0]) ** 3),
    "broadcast_to": lambda x: np.sum(np.broadcast_to(x[:, 0], SHAPE) ** 3),
    "tile": lambda x: np.sum(np.tile(x, ORDER + 1) ** 3),
    "transpose": lambda x: np.transpose(x, ORDER)[0, 1] * x.transpose(ORDER)[1, 0],
    "sum": lambda x: np.sum(np.sum(x, axis=tuple(ORDER)) ** 2),
    "repeat": lambda x: np.sum(np.repeat(x, COUNTS, axis=ORDER[0]) ** 3),
    "pad": lambda x: np.sum(np.pad(x, WIDTHS, mode="edge") ** 3),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arrays_of_integers_as_arguments(name: str) -> None:
    """The gradient is that of finite differences, eager and compiled."""
    function = FUNCTIONS[name]
    x = numpy.random.default_rng(3).normal(size=(3, 4))
    gt.gradcheck(function, x)
    compiled = gt.jit(gt.value_and_grad(function))
    for point in (x, x + 1.0):
        for found, expected in zip(compiled(point), gt.value_and_grad(function)(point), strict=True):
            numpy.testing.assert_allclose(found, expected, rtol=1e-12)
    assert compiled.stats.uncompiled == 0
