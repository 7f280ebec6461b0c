"""Operations that are exchanged for others: what is kept of the numbers."""

import numpy as np
import pytest

import gradtape as gt


@pytest.mark.filterwarnings("ignore::gradtape.errors.NumericsWarning")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_derivatives_of_reciprocals_are_squares_of_them(dtype):
    """One division is left, and the gradient is that of eager mode to two units in the last place, at the edges too."""
    x = np.array([3.0, -0.7, 1e-30, 1e30, np.inf, -np.inf, 0.0, -0.0, np.nan], dtype)

    def loss(x):
        return np.sum(1.0 / x)

    with np.errstate(all="ignore"):
        compiled, expected = gt.jit(gt.grad(loss)), gt.grad(loss)(x)
        found = compiled(x)
        assert sum(i.name == "divide" for i in compiled.lower(x).instructions) == 1
    np.testing.assert_array_max_ulp(found[:4], expected[:4], 2)
    np.testing.assert_array_equal(found[4:], expected[4:])
    assert np.array_equal(np.signbit(found[:-1]), np.signbit(expected[:-1]))


def test_other_quotients_stay():
    """A quotient by something else, or of something else than one, is what it was."""

    def loss(x, y):
        return np.sum(-(1.0 / x) / y) + np.sum(-(2.0 / x) / x)

    program = gt.jit(loss).lower(np.ones(3), np.ones(3))
    assert sum(i.name == "divide" for i in program.instructions) == 4
