"""Loops that stack the cosine of an angle for the loop of their gradient, instead of the angle."""

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit import passes
from gradtape.jit.ir.program import LOOP

SIZE = 20_000
"""Elements of arrays that are so large that the loop of the gradient is made of single instructions."""


def chain(x):
    for _ in range(30):
        x = np.sin(x) * 1.01 + 0.1
    return np.sum(x)


def leapfrog(x):
    p = x * 0.5
    for _ in range(30):
        p = p - 0.05 * np.cos(x)
        x = x + 0.1 * p
    return np.sum(x * p)


def angle_of_a_product(x):
    y = x * 1.5
    for _ in range(30):
        angle = np.exp(x)
        x = x + 0.01 * np.sin(angle) * y
    return np.sum(x * x)


def angle_read_otherwise(x):
    for _ in range(30):
        x = np.sin(x) * x
    return np.sum(x)


def loops(function, x):
    """The names of the instructions of each loop."""
    program = gt.jit(gt.value_and_grad(function)).lower(x)
    return [[i.name for i in loop.params["loop"].body.instructions] for loop in program.instructions if loop.op is LOOP]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function", [chain, leapfrog, angle_of_a_product, angle_read_otherwise])
def test_the_bits_are_those_without_the_pass(function, dtype, monkeypatch):
    """Values and gradients do not change in any bit, and agree with eager mode."""
    x = np.linspace(0.1, 1.0, SIZE + 3).astype(dtype)
    found = gt.jit(gt.value_and_grad(function))(x)
    others = tuple(run for run in passes.LAST_PASSES if run is not passes.stack_cosines)
    monkeypatch.setattr(passes, "LAST_PASSES", others)
    expected = gt.jit(gt.value_and_grad(function))(x)
    assert [part.tobytes() for part in found] == [part.tobytes() for part in expected]
    value, gradient = gt.value_and_grad(function)(x)
    close = {"rtol": 1e-11, "atol": 1e-12} if dtype is np.float64 else {"rtol": 1e-4, "atol": 1e-5}
    np.testing.assert_allclose(found[0], value, **close)
    np.testing.assert_allclose(found[1], gradient, **close)


@pytest.mark.parametrize("function", [chain, leapfrog])
def test_sines_and_cosines_are_computed_in_the_same_loop(function):
    """The loop of the gradient computes neither, the other one both."""
    forward, backward = loops(function, np.linspace(0.1, 1.0, SIZE))
    assert {"sin", "cos"} <= set(forward)
    assert not {"sin", "cos"} & set(backward)


def test_an_angle_that_is_read_otherwise_stays():
    """Where the angle itself is needed as well, it is stacked, and nothing else."""
    forward, backward = loops(angle_read_otherwise, np.linspace(0.1, 1.0, SIZE))
    assert "cos" in backward
    assert "cos" not in forward
