"""Tiling of elementwise loops over large arrays: results have the bits of untiled loops."""

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit.native.lower.decompose import decompose
from gradtape.jit.native.runtime.function import NativeFunction
from gradtape.jit.native.schedule import tiling
from gradtape.jit.native.schedule.tiling import LARGE, LOOP, loop_shape

SIZE = LARGE + 1000  # no multiple of a tile
FEW = 700


def chain(x, rate):
    for _ in range(40):
        x = np.sin(x) * rate + 0.1
    return np.sum(np.cos(x) * x)


def scanned(x, rows):
    def step(carry, row):
        new = np.tanh(carry[0] * row) + carry[1]
        return (new, carry[1] * 0.5), (new * row, carry[1])

    (last, _), (stack, factors) = gt.scan(step, (x, np.float64(1.0)), rows)
    return np.sum(last), stack, factors


def groups_of(compiled):
    """The native groups of what was compiled last."""
    found = [step.call for step in compiled._last().runner.steps]
    return [call if isinstance(call, NativeFunction) else call.__self__[0] for call in found]


def small_and_large(function, *arguments):
    """What `function` gives for large arrays, and for the first elements of them alone."""
    whole = gt.jit(function)(*arguments)
    part = gt.jit(function)(*[x[..., :FEW] if np.ndim(x) else x for x in arguments])
    return whole, part


def test_a_chain_and_its_gradient():
    """Forward and backward loops of a large array give each element the bits that it has among a few."""
    x = np.random.default_rng(0).uniform(0.1, 1.0, SIZE)
    (_, whole), (_, part) = small_and_large(gt.value_and_grad(chain), x, np.float64(1.01))
    assert whole[:FEW].tobytes() == part.tobytes()
    gradient = gt.grad(chain)(x, np.float64(1.01))
    np.testing.assert_allclose(whole, gradient, rtol=1e-12)


def test_rows_in_and_rows_out():
    """A scan that walks along rows and stacks others does so tile by tile, single numbers included."""
    generator = np.random.default_rng(1)
    x, rows = generator.normal(size=SIZE), generator.normal(size=(30, SIZE))
    whole, part = small_and_large(scanned, x, rows)
    assert whole[1].shape == (30, SIZE)
    assert whole[1][:, :FEW].tobytes() == part[1].tobytes()
    np.testing.assert_array_equal(whole[2], 0.5 ** np.arange(30.0))
    expected = scanned(gt.tensor(x), rows)
    np.testing.assert_allclose(whole[0], expected[0].numpy(), rtol=1e-10)
    np.testing.assert_allclose(whole[1], expected[1].numpy(), rtol=1e-12, atol=1e-14)


def test_numbers_as_many_as_a_tile_has_elements():
    """An array of one number for each step is not cut, even if it is as long as a tile."""

    def decay(x, rates):
        for rate in rates:
            x = x - rate * np.sin(x)
        return np.sum(x)

    x, rates = np.random.default_rng(5).normal(size=SIZE), np.linspace(0.1, 0.2, 128)
    compiled = gt.jit(gt.grad(decay))
    gradient = compiled(x, rates)
    (group,) = groups_of(compiled)
    tile = next(iter(tiling.tile_loops(decompose(group.instructions), group.outputs))).params["tile"]
    assert tile.length == len(rates)
    few = gt.jit(gt.grad(decay))(x[:FEW], rates)
    assert gradient[:FEW].tobytes() == few.tobytes()


def test_any_number_of_threads(monkeypatch):
    """One thread and three give the same bits."""
    x = np.random.default_rng(2).uniform(0.1, 1.0, SIZE)
    compiled = gt.jit(gt.value_and_grad(chain))
    found = []
    for threads in (1, 3):
        monkeypatch.setattr(gt.config, "threads", threads)
        value, gradient = compiled(x, np.float64(1.01))
        found.append((value.tobytes(), gradient.tobytes()))
    assert found[0] == found[1]


def test_what_stays_outside():
    """A number that all elements have a share in separates one tiled call from the next."""

    def normed(x):
        for _ in range(3):
            total = np.sum(x * x)
            x = gt.fori_loop(0, 5, lambda _, x, total=total: np.sin(x) / total, x)
        return x

    x = np.random.default_rng(3).uniform(0.1, 1.0, SIZE)
    compiled = gt.jit(normed)
    np.testing.assert_allclose(compiled(x), normed(x), rtol=1e-11)
    (group,) = groups_of(compiled)
    assert [code.name.startswith("call") for code in group.nests].count(True) == 3


def test_memory_does_not_grow_with_the_array():
    """What the loops stack for the gradient is there for some tiles only."""

    def peak(size):
        compiled = gt.jit(gt.grad(chain))
        compiled.lower(np.ones(size), np.float64(1.0))
        return compiled.memory

    assert peak(8 * LARGE) - peak(4 * LARGE) <= 4 * 8 * 4 * LARGE  # a few arrays, and not 40


@pytest.mark.parametrize("body", ["roll", "sum"])
def test_neighbours_are_no_tiles(body):
    """A loop whose elements depend on others is computed step by step, and is right."""

    def spread(x):
        for _ in range(12):
            x = 0.5 * x + 0.25 * (np.roll(x, 1) if body == "roll" else np.sum(x) / x.size)
        return x

    x = np.random.default_rng(4).normal(size=SIZE)
    compiled = gt.jit(spread)
    np.testing.assert_allclose(compiled(x), spread(x), rtol=1e-11, atol=1e-13)
    loops = [instruction for instruction in compiled.program.instructions if instruction.name == LOOP]
    assert loops
    assert all(loop_shape(loop) is None for loop in loops)
