"""The vector maths against mpmath (in the test extra), over the whole domain of each function, counted in ulps."""

import warnings

import mpmath
import numpy as np
import pytest
from scipy import special

from ..kernels import BINARY, FUNCTIONS, REFERENCES, native, native_operation, oldest, ulps

DTYPES = ("float64", "float32")
BOUND = 2.0

# where the function changes, and beyond; every function is also tried on arbitrary bits and on tiny numbers
RANGES = {
    "acos": [(-1, 1)],
    "acosh": [(1, 3), (1, 1e6)],
    "asin": [(-1, 1)],
    "asinh": [(-3, 3), (-1e10, 1e10)],
    "atan": [(-50, 50)],
    "atanh": [(-1, 1)],
    "cbrt": [(-100, 100)],
    "cos": [(-1000, 1000), (-1e9, 1e9)],
    "cosh": [(-712, 712), (-2, 2)],
    "erf": [(-7, 7)],
    "erfc": [(-7, 28)],
    "erfcx": [(-26, 30), (-2, 2), (0, 1e9)],
    "exp": [(-746, 710), (-2, 2)],
    "exp2": [(-1080, 1025), (-2, 2)],
    "expm1": [(-60, 710), (-2, 2)],
    "gammaln": [(0, 4), (0, 20), (0, 1e4)],
    "log": [(0, 3)],
    "log10": [(0, 3)],
    "log1p": [(-1, 3)],
    "log2": [(0, 3)],
    "ndtr": [(-39, 9), (-2, 2)],
    "psi": [(0, 4), (0, 20), (0, 1e4)],
    "sigmoid": [(-750, 50), (-5, 5)],
    "sin": [(-1000, 1000), (-1e9, 1e9)],
    "sinh": [(-712, 712), (-2, 2)],
    "softplus": [(-750, 50), (-5, 5)],
    "tan": [(-1000, 1000), (-1e9, 1e9)],
    "tanh": [(-25, 25), (-2, 2)],
    "trigamma": [(0, 4), (0, 20), (0, 1e4)],
}
DOMAINS = {
    "acos": (-1, 1),
    "acosh": (1, None),
    "atanh": (-1, 0.9999999),
    "asin": (-1, 1),
    "log": (0, None),
    "log10": (0, None),
    "log2": (0, None),
    "log1p": (-1, None),
    **dict.fromkeys(["gammaln", "psi", "trigamma"], (0, 1e15)),
    "erfcx": (-26.6, 1e6),
    # mpmath would compute numbers of astronomical exponents beyond
    **dict.fromkeys(
        ["cosh", "erf", "erfc", "exp", "exp2", "expm1", "ndtr", "sigmoid", "sinh", "softplus", "tanh"],
        (-10000.0, 10000.0),
    ),
}


def arbitrary(generator, count, dtype):
    """Numbers of all sizes, subnormal ones included: finite bit patterns."""
    kind = "uint64" if dtype == "float64" else "uint32"
    bits = generator.integers(0, np.iinfo(kind).max, count, dtype=kind)
    bits[: count // 8] &= bits.dtype.type((1 << (52 if dtype == "float64" else 23)) - 1)  # subnormal
    numbers = bits.view(dtype)
    return numbers[np.isfinite(numbers)]


def points(name, dtype, count):
    generator = np.random.default_rng(sum(map(ord, name)))
    found = [
        arbitrary(generator, count, dtype),
        generator.choice([-1, 1], count) * 10.0 ** generator.uniform(-20, 1, count),
    ]
    found += [generator.uniform(low, high, count) for low, high in RANGES[name]]
    if name in ("sin", "cos", "tan"):
        found += [np.arange(1, count) * np.pi / 2, generator.integers(1, 2**27, count) * np.pi / 2]
        found += [[6381956970095103 * 2.0**797 if dtype == "float64" else 16367173 * 2.0**72]]  # next to k pi/2
    if name.startswith("log"):
        found += [1 + generator.choice([-1, 1], count) * 10.0 ** generator.uniform(-16, -1, count)]
    if name in ("asin", "acos"):
        found += [1 - 10.0 ** generator.uniform(-16, 0, count), 10.0 ** generator.uniform(-16, 0, count) - 1]
    numbers = np.concatenate(found).astype(dtype)
    low, high = DOMAINS.get(name, (None, None))
    if low is not None:
        closed = name in ("acos", "asin")
        numbers = numbers[(numbers >= low) if closed else (numbers > low)]
    return numbers if high is None else numbers[numbers <= high]


def worst(name, dtype, results, *operands):
    """The largest error in ulps, and where."""
    found = (0.0, None)
    digits = 1400 if name in ("sin", "cos", "tan") else 200
    for result, *given in zip(results, *operands, strict=True):
        tiny = max(abs(float(x)) for x in given) < 1e-60
        with mpmath.workprec(2400 if tiny and name not in ("cbrt",) else digits):
            exact = REFERENCES[name](*[mpmath.mpf(float(x)) for x in given])
        found = max(found, (ulps(result, exact, dtype), [float(x) for x in given]), key=lambda pair: pair[0])
    return found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("machine", ["host", "oldest"])
@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - BINARY))
def test_functions_of_one_number_are_within_two_ulps(name, machine, dtype):
    """Every function of one number is within 2 ulp of the truth, with and without the host's instruction sets."""
    x = points(name, dtype, 60 if machine == "host" else 15)
    error, where = worst(name, dtype, native(name, dtype, machine)(x), x)
    assert error < BOUND, f"{error:.2f} ulp at {where}"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("machine", ["host", "oldest"])
def test_power_is_within_two_ulps(machine, dtype):
    """A power is within 2 ulp of the truth, near overflow, underflow and 1 too."""
    generator = np.random.default_rng(5)
    count, reach = (250, 740) if dtype == "float64" else (250, 100)
    near = (1 + generator.uniform(-0.3, 0.3, count)).astype(dtype)
    wide = np.exp(generator.uniform(-40, 40, count)).astype(dtype)
    any_size = np.abs(arbitrary(generator, count, dtype))
    any_size = any_size[any_size > 0]
    x = np.concatenate([near, wide, any_size])
    with np.errstate(all="ignore"):
        y = (generator.uniform(-reach, reach, x.size) / np.log(x.astype(float))).astype(dtype)
    y[np.abs(y) > 1e6] = 0.5
    y[-count // 4 :] = generator.integers(-6, 7, count // 4 + 1)[: count // 4 + (count % 4 > 0)]
    error, where = worst("power", dtype, native("power", dtype, machine)(x, y), x, y)
    assert error < BOUND, f"{error:.2f} ulp at {where}"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("machine", ["host", "oldest"])
def test_atan2_is_within_two_ulps(machine, dtype):
    """The angle of a point is within 2 ulp of the truth, for coordinates of any two sizes."""
    generator = np.random.default_rng(6)
    y = np.concatenate([arbitrary(generator, 150, dtype)[:100], generator.uniform(-2, 2, 200).astype(dtype)])
    x = np.concatenate([arbitrary(generator, 150, dtype)[:100], generator.uniform(-2, 2, 200).astype(dtype)])
    error, where = worst("atan2", dtype, native("atan2", dtype, machine)(y, x), y, x)
    assert error < BOUND, f"{error:.2f} ulp at {where}"


NUMPY_NAMES = {name: f"arc{name[1:]}" for name in ("acos", "asin", "atan", "atan2", "acosh", "asinh", "atanh")}
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 1e9, 2.0**53, 1e300, -1e300]
OTHERS = {
    "sigmoid": [(np.inf, 1.0), (-np.inf, 0.0), (0.0, 0.5), (-1e300, 0.0), (1e300, 1.0)],
    "softplus": [(np.inf, np.inf), (-np.inf, 0.0), (1e300, 1e300), (-1e300, 0.0)],
    "erf": [(np.inf, 1.0), (-np.inf, -1.0), (0.0, 0.0), (-0.0, -0.0), (1e300, 1.0)],
    "erfc": [(np.inf, 0.0), (-np.inf, 2.0), (0.0, 1.0), (-1e300, 2.0), (1e300, 0.0)],
    "erfcx": [
        (np.inf, 0.0),
        (-np.inf, np.inf),
        (0.0, 1.0),
        (-0.0, 1.0),
        (-1e30, np.inf),
        (1e30, 5.641895835477563e-31),
    ],
    "gammaln": [(np.inf, np.inf), (1.0, 0.0), (2.0, 0.0), (0.0, np.inf), (-0.0, np.inf), (-2.0, np.inf)],
    "ndtr": [(np.inf, 1.0), (-np.inf, 0.0), (0.0, 0.5), (-0.0, 0.5), (-1e300, 0.0), (1e300, 1.0)],
    "psi": [(np.inf, np.inf), (-np.inf, np.nan), (0.0, -np.inf), (-0.0, np.inf), (-1.0, np.nan), (-7.0, np.nan)],
    "trigamma": [(np.inf, 0.0), (-np.inf, np.inf), (0.0, np.inf), (-0.0, np.inf), (-3.0, np.inf)],
}


def same(left, right):
    """Equal, with the sign of zero and of infinity, or both NaN; finite results to 2 ulp here and 4 ulp of NumPy's."""
    finite = np.isfinite(right) & (right != 0)
    alike = np.where(np.isnan(right), np.isnan(left), (left == right) & (np.signbit(left) == np.signbit(right)))
    with np.errstate(all="ignore"):
        close = np.abs(left - right) <= 6 * np.spacing(np.abs(right))
    return np.where(finite, close, alike)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - set(OTHERS)))
def test_special_values_are_those_of_numpy(name, dtype):
    """NaN, infinities, signed zeros and arguments outside the domain give what NumPy gives."""
    with np.errstate(all="ignore"):
        special = np.array(SPECIAL).astype(dtype)
        operands = [grid.ravel() for grid in np.meshgrid(special, special)] if name in BINARY else [special]
        expected = getattr(np, NUMPY_NAMES.get(name, name))(*operands)
    results = native(name, dtype)(*operands)
    wrong = [[float(x[i]) for x in operands] for i in np.flatnonzero(~same(results, expected))]
    assert not wrong


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted(OTHERS))
def test_special_values_without_numpy(name, dtype):
    """Functions NumPy lacks take their limits at the ends, keep the sign of zero, and NaN stays NaN."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        x, expected = (np.array(numbers).astype(dtype) for numbers in zip(*OTHERS[name], strict=True))
    assert same(native(name, dtype)(x), expected).all()
    assert np.isnan(native(name, dtype)(np.array([np.nan]))).all()


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - BINARY))
def test_subnormal_results_and_arguments(name):
    """Subnormal arguments give finite results or the right infinities, never garbage."""
    x = np.array([5e-324, -5e-324, 1e-310, -1e-310, 2.2250738585072014e-308])
    with np.errstate(all="ignore"):
        x = x[x >= 0] if name.startswith("log") and name != "log1p" else x + 1 if name == "acosh" else x
    error, where = worst(name, "float64", native(name, "float64")(x), x)
    assert error < BOUND, f"{error:.2f} ulp at {where}"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - BINARY))
def test_a_result_does_not_depend_on_the_lane(name, dtype):
    """A number gives the same bits in every lane and next to any other numbers, huge ones included."""
    generator = np.random.default_rng(3)
    x = generator.uniform(0.1, 0.9, 64).astype(dtype)
    alone = native(name, dtype)(np.repeat(x, 8))[::8].tobytes()
    mixed = np.stack([x, np.full(64, 1e30, dtype)], axis=1).ravel()
    assert native(name, dtype)(mixed)[::2].tobytes() == alone


def test_the_oldest_machine_has_no_fused_instructions():
    """Code for the oldest machine uses none of the instructions it lacks."""
    text = native("sin", "float64", "oldest").assembly()
    if "xmm" in text:
        assert not oldest().fused
        assert "vfmadd" not in text
        assert "ymm" not in text


def test_loops_are_packed():
    """The sine's loop works on vectors: packed multiplications, and no call of a library's sine."""
    text = native("sin", "float64").assembly()
    if "xmm" in text:
        assert "mulpd" in text or "vfmadd" in text
        assert "callq\tsin" not in text


@pytest.mark.parametrize("machine", ["host", "oldest"])
@pytest.mark.parametrize("name", ["erf", "exp", "sigmoid", "tanh"])
def test_functions_in_binary32_are_within_two_ulps_on_a_grid(name, machine):
    """Functions that are computed in binary32 throughout are within 2 ulp on every 4001st number of that dtype."""
    x = np.arange(0, 2**32, 4001, dtype=np.uint64).astype(np.uint32).view(np.float32)
    x = x[np.isfinite(x)]
    found = native_operation(name, 1, "float32", machine)(x)
    functions = {"erf": special.erf, "exp": np.exp, "sigmoid": special.expit, "tanh": np.tanh}
    with np.errstate(all="ignore"):
        exact = functions[name](x.astype(np.float64))
        rounded = exact.astype(np.float32)
        spacing = np.spacing(np.abs(rounded)).astype(np.float64)
        wrong = np.abs(found - exact) > 2 * spacing
    finite = np.isfinite(rounded)
    assert not np.any(wrong & finite), x[wrong & finite][:3]
    np.testing.assert_array_equal(found[~finite], rounded[~finite])


@pytest.mark.parametrize("name", ["erf", "exp", "sigmoid", "tanh"])
def test_functions_in_binary32_keep_signs_and_infinities(name):
    """Signed zeros, infinities and NaN have the values that NumPy and SciPy give them."""
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45], np.float32)
    functions = {"erf": special.erf, "exp": np.exp, "sigmoid": special.expit, "tanh": np.tanh}
    found = native_operation(name, 1, "float32")(x)
    expected = functions[name](x)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))
