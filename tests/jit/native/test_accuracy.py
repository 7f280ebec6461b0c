"""Vector code for numbers of all sizes: the short version of `accuracy`, and the arguments that were wrong once."""

import mpmath
import numpy as np
import pytest

from gradtape.jit.native.emit.elementwise import EMITTERS

from .accuracy import BOUND, ONE, TWO, arguments_of, error, neighbourhood, worst
from .kernels import native_operation

MOVED = {
    "astype", "broadcast_to", "clip", "conjugate", "heaviside", "positive", "stop_gradient", "where",
}  # fmt: skip
"""Operations that hand on one of their operands."""


def test_every_operation_on_floats_has_a_reference():
    """No vector function of floats is left out of the comparison with mpmath."""
    others = {*MOVED, "floor_divide"}  # which has a test of its own
    assert {name for name, (kinds, _) in EMITTERS.items() if "f" in kinds} == {*ONE, *TWO, *others}


@pytest.mark.parametrize("machine", ["host", "oldest"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_numbers_of_all_sizes_are_within_two_ulps(name, dtype, machine):
    """Arguments of every exponent and sign, subnormal ones included, give results within 2 ulp of the truth."""
    generator = np.random.default_rng([*name.encode(), len(dtype), len(machine)])
    size, where = worst(name, dtype, arguments_of(name, dtype, generator, 60 if machine == "host" else 20), machine)
    assert size < BOUND, f"{size:.2f} ulp at {where}"


@pytest.mark.parametrize("name", ["arctan", "erf", "exp", "expm1", "gammaln", "log1p", "ndtr", "psi", "tanh"])
def test_neighbours_of_turning_points_are_within_two_ulps(name):
    """On both sides of every number at which a formula changes the result is within 2 ulp of the truth."""
    size, where = worst(name, "float64", [neighbourhood("float64")])
    assert size < BOUND, f"{size:.2f} ulp at {where}"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_floor_division_is_numpys(dtype):
    """The quotient rounded down is made of exact steps, and the same as NumPy's for numbers of all sizes."""
    x, y = arguments_of("divide", dtype, np.random.default_rng(8), 2000)
    with np.errstate(all="ignore"):
        expected = np.floor_divide(x, y)
    np.testing.assert_array_equal(native_operation("floor_divide", 2, dtype)(x, y), expected)


CASES = [
    ("arctan2", [5e-324, 1.5]),
    ("arctan2", [8.6e-153, 5.3e151]),
    ("arctan2", [-1e-310, 3.7]),
    ("arctan2", [3e-200, 1e120]),
    ("arctan2", [2e-160, -1e160]),
    ("gammaln", [-1.7976931348623157e308]),
    ("gammaln", [2.5e305]),
    ("gammaln", [2.5599e305]),
    ("gammaln", [2.56e305]),
    ("gammaln", [-2.747]),
    ("psi", [-5.7e13]),
    ("psi", [-57000000000000.03]),
    ("psi", [-0.5]),
    ("psi", [-5e-324]),
    ("polygamma", [-6.4e-05]),
    ("erfcx", [-26.64]),
    ("erfcx", [-1e-8]),
    ("ndtr", [-37.3]),
    ("log_ndtr", [26.0]),
    ("logaddexp", [1.15e-8, -9.167]),
    ("logaddexp2", [-24.05, 1.07e-8]),
    ("sigmoid", [-16.6]),
]


LARGEST = float(np.finfo(np.float32).max)


@pytest.mark.parametrize(
    ("name", "arguments", "dtype"),
    [(*case, "float64") for case in CASES] + [(*case, "float32") for case in CASES if max(map(abs, case[1])) < LARGEST],
)
def test_arguments_at_the_edge(name, arguments, dtype):
    """Quotients that are subnormal, sums that overflow late, and places next to a pole are within 2 ulp."""
    with np.errstate(under="ignore"):
        given = [np.array([number]).astype(dtype) for number in arguments]
    (result,) = native_operation(name, len(given), dtype)(*given)
    assert error(name, dtype, result, [x[0] for x in given]) < BOUND


def test_digamma_far_to_the_left_keeps_its_digits():
    """Where digamma(1 - x) and pi / tan(pi x) nearly cancel, far to the left, the difference still has its digits."""
    x = -57000000000000.03
    (result,) = native_operation("psi", 1, "float64")(np.array([x]))
    with mpmath.workprec(300):
        exact = mpmath.digamma(1 - mpmath.mpf(x)) - mpmath.pi * mpmath.cospi(x) / mpmath.sinpi(x)
    assert abs(result - exact) < 4 * np.spacing(abs(float(exact)))
