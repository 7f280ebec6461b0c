"""Powers with small constant exponents against mpmath, and their special values against NumPy."""

import mpmath
import numpy as np
import pytest

import gradtape as gt
from gradtape.jit.ir.program import Instruction, Literal, Value
from gradtape.jit.native.math.roots import EXPONENTS
from gradtape.jit.native.runtime.function import compile_function
from gradtape.ops.elementwise import power

from ..kernels import machine_named, ulps

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.0, -3.5, 5e-324, -5e-324, 1e-310, 1e300, -1e300]
ENDS = [1e-205, 1e205, 1e-206, 1e206, 1e-154, 1e154, 1e-123, 1e123, 1e124, 1e-103, 1e103, 1.7e308, 2.3e-308]


def native_power(dtype, exponent, size, machine):
    x, y = (Value(i, (size,), np.dtype(dtype)) for i in range(2))
    return compile_function(
        [Instruction(power, (x, Literal(exponent)), {}, (y,))], [x], [y], machine=machine_named(machine)
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("machine", ["host", "oldest"])
@pytest.mark.parametrize("exponent", sorted(EXPONENTS))
def test_small_powers_are_within_two_ulps_with_the_special_values_of_numpy(exponent, machine, dtype):
    """Roots and products are within 2 ulp of the power, and zeros, infinities and NaN are those of NumPy."""
    generator = np.random.default_rng(int(exponent * 2) + 10)
    wide, near = 10.0 ** generator.uniform(-320, 308, 100), generator.uniform(0.5, 4.0, 100)
    with np.errstate(all="ignore"):
        x = np.concatenate([SPECIAL, ENDS, wide, near]).astype(dtype)
        expected = np.power(x, np.dtype(dtype).type(exponent))
    (found,) = native_power(dtype, exponent, x.size, machine)(x)
    for given, result, wanted in zip(x, found, expected, strict=True):
        if not np.isfinite(wanted) or wanted == 0:
            assert np.isnan(wanted) == np.isnan(result), given
            assert np.isnan(wanted) or (wanted == result and np.signbit(wanted) == np.signbit(result)), given
        else:
            with mpmath.workprec(200):
                exact = mpmath.re(mpmath.power(mpmath.mpf(float(given)), mpmath.mpf(exponent)))
            assert ulps(result, exact, dtype) < 2, given


def test_compiled_gradients_of_small_powers_are_those_of_eager_mode():
    """First and second derivatives of inverse powers agree with eager mode, in reverse and forward mode."""
    x = np.linspace(0.3, 4.0, 21)

    def total(x):
        return np.sum(x**-1.5 + x**1.5 * 2 + x**-0.5 + x**-2)

    def tangent(x):
        return gt.jvp(total, (x,), (np.cos(x),))[1]

    for function in (gt.grad(total), gt.grad(lambda x: np.sum(gt.grad(total)(x) ** 2)), tangent):
        np.testing.assert_allclose(gt.jit(function)(x), function(x), rtol=1e-13)
