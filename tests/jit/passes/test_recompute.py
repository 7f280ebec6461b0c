"""Values that the loop of a gradient computes again, instead of reading them from a stack."""

import numpy as np
import pytest

import gradtape as gt
from gradtape.config import config
from gradtape.jit.ir.program import LOOP


def bodies(points, speeds, times):
    for dt in times:
        apart = points[None] - points[:, None]
        square = np.sum(apart * apart, -1) + 0.1
        speeds = speeds + dt * np.sum((square**-1.5)[:, :, None] * apart, 1)
        points = points + dt * speeds
    return np.sum(points**2)


def mixed(x, scale, shifts):
    """What is stacked is computed from an invariant, a slice and a constant, and from what is stacked anyway."""
    weights = np.linspace(0.5, 1.5, 700)
    for shift in shifts:
        wave = np.sin(x * scale)
        x = x + (wave * weights + shift * scale) * (wave - shift) * x[::-1]
    return np.sum(x * x)


def stacked_bytes(program):
    """The bytes of one row of all that the loops of a program stack."""
    loops = [i.params["loop"] for i in program.instructions if i.op is LOOP]
    return sum(value.nbytes for loop in loops for value in loop.body.outputs[loop.carried :])


def gates(x, weight, inputs):
    """Short rows, of which the derivatives of two functions are computed from their values."""
    for row in inputs:
        x = np.tanh(x * weight + row) / (1.0 + np.exp(-x * row))
    return np.sum(x * x)


def arguments(function):
    rng = np.random.default_rng(8)
    if function is bodies:
        return rng.normal(size=(24, 3)), rng.normal(size=(24, 3)), 0.01 * rng.random(12)
    if function is gates:
        return rng.normal(size=16), rng.normal(size=16), rng.normal(size=(700, 16))
    return 0.1 * rng.normal(size=700), 1 + 0.1 * rng.normal(size=700), 0.1 * rng.random(11)


@pytest.mark.parametrize("function", [bodies, mixed, gates])
def test_gradients_are_those_of_eager_mode(function):
    """All gradients agree with eager mode, with every stage verified and every access checked."""
    given = arguments(function)
    eager = gt.value_and_grad(function, argnums=(0, 1, 2))
    before, config.check = config.check, "memory"
    try:
        value, found = gt.jit(eager)(*given)
    finally:
        config.check = before
    wanted, gradients = eager(*given)
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    for one, other in zip(found, gradients, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12 * np.max(np.abs(other)))


def test_pairs_of_points_are_not_stacked():
    """Of 24 points, a step leaves the points and one number for each pair; the differences are computed again."""
    compiled = gt.jit(gt.value_and_grad(bodies, argnums=(0, 1, 2)))
    program = compiled.lower(*arguments(bodies))
    assert sum(i.op is LOOP for i in program.instructions) == 2
    assert stacked_bytes(program) <= 8 * (24 * 24 + 3 * 24 * 3 + 1)


def test_light_instructions_on_stacked_short_rows_run_again():
    """Of a step with tanh and a quotient, five short rows are stacked: `1 - tanh**2` is computed again."""
    program = gt.jit(gt.value_and_grad(gates, argnums=(0, 1, 2))).lower(*arguments(gates))
    assert sum(i.op is LOOP for i in program.instructions) == 2
    assert stacked_bytes(program) <= 5 * 16 * 8


def test_small_values_are_stacked():
    """A few numbers are not worth computing again."""

    def decay(x):
        for _ in range(30):
            x = x - 0.1 * np.sin(x) * (x * 0.5 + 1.0)
        return np.sum(x)

    compiled = gt.jit(gt.grad(decay))
    x = np.linspace(0.1, 1.0, 5)
    np.testing.assert_allclose(compiled(x), gt.grad(decay)(x), rtol=1e-12)
    assert stacked_bytes(compiled.lower(x)) > 0
