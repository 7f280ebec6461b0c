"""Values that a function reads while it is traced: later calls have to have in common only what was read of them."""

import math

import numpy as np
import pytest

import gradtape as gt

CELLS = np.array([0.3, 1.2, 0.8, 0.4, 0.9])

WHOLE_NUMBERS = {
    "int": lambda x: CELLS[int(x * 2)] * x,
    "floor": lambda x: CELLS[math.floor(x * 2)] * x,
    "ceil": lambda x: CELLS[math.ceil(x * 2)] * x,
    "trunc": lambda x: CELLS[math.trunc(x * 2)] * x,
    "round": lambda x: CELLS[round(x * 2)] * x,
    "range": lambda x: sum(x * k for k in range(int(x * 2))),
}


@pytest.mark.parametrize("name", WHOLE_NUMBERS)
def test_number_of_a_cell_is_traced_once(name):
    """A position that is made a whole number is guarded as that number: others in the same cell run the same code."""
    function = WHOLE_NUMBERS[name]
    compiled = gt.jit(gt.value_and_grad(function))
    for x in (1.31, 1.33, 1.36, 1.31, 0.81, 0.83):
        found, expected = compiled(np.array(x)), gt.value_and_grad(function)(np.array(x))
        np.testing.assert_allclose(found, expected, rtol=1e-14)
        np.testing.assert_allclose(found[0], function(np.float64(x)), rtol=1e-14)
    assert (compiled.stats.traces, compiled.stats.uncompiled) == (2, 0)


def until_close(x):
    while not np.allclose(x, np.cos(x), rtol=1e-3):
        x = np.cos(x)
    return np.sum(x)


def until_equal(x):
    x = np.append(x, 1.0)
    for _ in range(9):
        y = np.append(x[:2], np.maximum(x[2:] * 0.5, 0.1))
        if np.array_equal(x, y) or np.array_equiv(x, y[0]):
            break
        x = y
    return np.sum(x * x)


@pytest.mark.parametrize("function", [until_close, until_equal])
def test_comparison_of_arrays_is_one_answer(function):
    """`allclose`, `array_equal` and `array_equiv` are looked at as yes or no, not as all the numbers compared."""
    compiled = gt.jit(gt.value_and_grad(function))
    x = np.array([0.3, 0.5])
    for shift in (0.0, 0.001, 0.002, 0.4):
        found, expected = compiled(x + shift), gt.value_and_grad(function)(x + shift)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-13)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-13)
        np.testing.assert_allclose(found[0], function(x + shift), rtol=1e-13)
    assert compiled.stats.traces <= 3
    assert compiled.stats.uncompiled == 0


@pytest.mark.parametrize(
    "other", [[1.0, np.nan, np.inf], [1.0, 2.0, np.inf], [1.0, np.nan], [1.0 + 1e-9, np.nan, np.inf]]
)
@pytest.mark.parametrize("equal_nan", [False, True])
def test_comparisons_inside_jit_are_those_of_numpy(other, equal_nan):
    """Traced comparisons give NumPy's answers, for numbers that are not finite and other shapes, too."""
    x, other = np.array([1.0, np.nan, np.inf]), np.array(other)

    def answers(x):
        equal = np.array_equal(x, other, equal_nan=equal_nan)
        equivalent = np.array_equiv(x, other)
        close = x.shape == other.shape and np.allclose(x, other, equal_nan=equal_nan)
        return equal, equivalent, close

    seen = []
    gt.jit(lambda x: seen.append(answers(x)) or x * 2.0)(x)
    assert seen[0] == answers(x)
