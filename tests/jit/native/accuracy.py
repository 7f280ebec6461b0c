"""Every elementwise operation that is emitted as vector code, on numbers of all sizes, against mpmath.

Arguments are drawn log-uniformly over all exponents (subnormal numbers included) and both signs, from the numbers at
which formulas change and their neighbours, and for operations of two numbers also in pairs that are related: nearly
equal, nearly opposite, or with a quotient, a product or a power near the ends of the range.

Run for longer than the tests do: `python -m tests.jit.native.accuracy --minutes 5`.
"""

from __future__ import annotations

import argparse
import math
import time

import mpmath
import numpy as np

from .kernels import native_operation, ulps

BOUND = 2.0  # units in the last place: what docs/jit.md states
PRECISION = 260
FAR = mpmath.mpf(10) ** 5  # beyond, an exponential is infinite or zero in either precision

INFINITE, NOT_A_NUMBER = mpmath.mpf("inf"), mpmath.mpf("nan")


# -- references: of finite numbers as mpf, with what IEEE 754, NumPy and SciPy say outside the domain


def _odd(function):
    """Of an odd function with the slope 1 at zero: tiny numbers are their own values, to hundreds of digits."""
    return lambda x: x if abs(x) < mpmath.mpf(10) ** -60 else function(x)


def _exp(x):
    return INFINITE if x > FAR else mpmath.mpf(0) if x < -FAR else mpmath.exp(x)


def _inside(condition, function):
    return lambda *x: function(*x) if condition(*x) else NOT_A_NUMBER


def _logarithm(function):
    return lambda x: NOT_A_NUMBER if x < 0 else -INFINITE if x == 0 else function(x)


def _atanh(x):
    return NOT_A_NUMBER if abs(x) > 1 else x * INFINITE if abs(x) == 1 else mpmath.atanh(x)


def _log1p(x):
    return NOT_A_NUMBER if x < -1 else -INFINITE if x == -1 else mpmath.log1p(x)


def _softplus(x):
    return (x if x > 0 else mpmath.mpf(0)) + mpmath.log1p(_exp(-abs(x)))


def _power(x, y):
    if y == 0 or x == 1:
        return mpmath.mpf(1)
    whole = y == mpmath.floor(y)
    sign = -1 if x < 0 and whole and y / 2 != mpmath.floor(y / 2) else 1
    if x == 0:
        return mpmath.mpf(0) if y > 0 else INFINITE
    if x < 0 and not whole:
        return NOT_A_NUMBER
    with mpmath.workprec(1400 if abs(abs(x) - 1) < 0.1 else PRECISION):
        return sign * _exp(y * mpmath.log(abs(x)))


def _gammaln(x):
    if x <= 0 and x == mpmath.floor(x):
        return INFINITE
    if x < 0:
        return mpmath.log(mpmath.pi / abs(x * mpmath.sinpi(x))) - _gammaln(-x)
    return mpmath.loggamma(1 + x) - mpmath.log(x) if x < 1e-5 else mpmath.loggamma(x)


def _psi(x):
    if x < 0:
        if x == mpmath.floor(x):
            return NOT_A_NUMBER
        return _psi(1 - x) - mpmath.pi * mpmath.cospi(x) / mpmath.sinpi(x)
    return mpmath.digamma(1 + x) - 1 / x if x < 1e-5 else mpmath.digamma(x)


def _trigamma(x):
    if x <= 0 and x == mpmath.floor(x):
        return INFINITE
    if x < 0:
        return (mpmath.pi / mpmath.sinpi(x)) ** 2 - _trigamma(1 - x)
    if x > 1e20:
        return 1 / x + 1 / (2 * x * x) + 1 / (6 * x**3)
    return mpmath.polygamma(1, 1 + x) + 1 / (x * x) if x < 1e-5 else mpmath.polygamma(1, x)


def _erfc(x):
    return mpmath.mpf(0) if x > 1000 else mpmath.mpf(2) if x < -1000 else mpmath.erfc(x)


def _erfcx(x):
    if x < -1000:
        return INFINITE
    if x > 1e30:
        return 1 / (x * mpmath.sqrt(mpmath.pi))
    return mpmath.exp(x * x) * mpmath.erfc(x)


def _log_ndtr(x):
    if x < -1e30:
        return -x * x / 2
    if x > 1000:
        return mpmath.mpf(0)
    root = mpmath.sqrt(mpmath.mpf(1) / 2)
    return mpmath.log(mpmath.erfc(-x * root) / 2) if x < 0 else mpmath.log1p(-mpmath.erfc(x * root) / 2)


def _logaddexp(x, y):
    return max(x, y) + mpmath.log1p(_exp(-abs(x - y)))


def _logaddexp2(x, y):
    return max(x, y) + mpmath.log1p(_exp(-abs(x - y) * mpmath.log(2))) / mpmath.log(2)


def _atan2(y, x):
    if abs(y) < abs(x) * mpmath.mpf(10) ** -60 and x > 0:
        return y / x
    return mpmath.atan2(y, x)


def _times(function):
    def product(x, y):
        if x == 0:
            return mpmath.mpf(0)
        factor = function(y)
        return factor * x

    return product


def _quotient(x, y):
    return x / y


def _remainder(x, y):
    if y == 0:
        return NOT_A_NUMBER
    with mpmath.workprec(2400):
        return x - y * mpmath.floor(x / y)


def _fmod(x, y):
    if y == 0:
        return NOT_A_NUMBER
    with mpmath.workprec(2400):
        quotient = x / y
        return x - y * (mpmath.floor(quotient) if quotient > 0 else mpmath.ceil(quotient))


def _logit(x):
    if x < 0 or x > 1:
        return NOT_A_NUMBER
    return -INFINITE if x == 0 else INFINITE if x == 1 else mpmath.log(x / (1 - x))


def _entr(x):
    return -INFINITE if x < 0 else mpmath.mpf(0) if x == 0 else -x * mpmath.log(x)


def _nearest(x):
    return mpmath.nint(x)


ONE = {
    "absolute": abs,
    "arccos": _inside(lambda x: abs(x) <= 1, mpmath.acos),
    "arccosh": _inside(lambda x: x >= 1, mpmath.acosh),
    "arcsin": _inside(lambda x: abs(x) <= 1, _odd(mpmath.asin)),
    "arcsinh": _odd(lambda x: mpmath.asinh(abs(x)) * mpmath.sign(x)),
    "arctan": _odd(mpmath.atan),
    "arctanh": _odd(_atanh),
    "cbrt": lambda x: mpmath.cbrt(abs(x)) * mpmath.sign(x),
    "ceil": mpmath.ceil,
    "cos": mpmath.cos,
    "cosh": lambda x: INFINITE if abs(x) > FAR else mpmath.cosh(x),
    "deg2rad": lambda x: x * mpmath.pi / 180,
    "entr": _entr,
    "erf": lambda x: mpmath.erf(max(min(x, 1000), -1000)),
    "erfc": _erfc,
    "erfcx": _erfcx,
    "exp": _exp,
    "exp2": lambda x: _exp(x * mpmath.log(2)),
    "expm1": lambda x: INFINITE if x > FAR else mpmath.expm1(max(x, -FAR)),
    "fabs": abs,
    "floor": mpmath.floor,
    "gammaln": _gammaln,
    "log": _logarithm(mpmath.log),
    "log10": _logarithm(lambda x: mpmath.log(x, 10)),
    "log1p": _log1p,
    "log2": _logarithm(lambda x: mpmath.log(x, 2)),
    "log_expit": lambda x: -_softplus(-x),
    "log_ndtr": _log_ndtr,
    "logit": _logit,
    "ndtr": lambda x: _erfc(-x * mpmath.sqrt(mpmath.mpf(1) / 2)) / 2,
    "negative": lambda x: -x,
    "polygamma": _trigamma,
    "psi": _psi,
    "rad2deg": lambda x: x * 180 / mpmath.pi,
    "reciprocal": lambda x: 1 / x,
    "relu": lambda x: max(x, mpmath.mpf(0)),
    "rint": _nearest,
    "root of squares": _inside(lambda x: x >= 0, mpmath.sqrt),
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)) if abs(x) < FAR else mpmath.mpf(x > 0),
    "sign": mpmath.sign,
    "sin": _odd(mpmath.sin),
    "sinh": _odd(lambda x: x * INFINITE if abs(x) > FAR else mpmath.sinh(x)),
    "softplus": _softplus,
    "sqrt": _inside(lambda x: x >= 0, mpmath.sqrt),
    "square": lambda x: x * x,
    "tan": _odd(mpmath.tan),
    "tanh": _odd(lambda x: mpmath.tanh(max(min(x, 1000), -1000))),
    "trunc": lambda x: mpmath.floor(x) if x > 0 else mpmath.ceil(x),
}
"""Operations of one number: what they are, of a finite number."""

TWO = {
    "add": lambda x, y: x + y,
    "arctan2": _atan2,
    "copysign": lambda x, y: abs(x) if y >= 0 else -abs(x),
    "divide": _quotient,
    "float_power": _power,
    "fmax": max,
    "fmin": min,
    "fmod": _fmod,
    "hypot": lambda x, y: mpmath.sqrt(x * x + y * y),
    "logaddexp": _logaddexp,
    "logaddexp2": _logaddexp2,
    "maximum": max,
    "minimum": min,
    "multiply": lambda x, y: x * y,
    "power": _power,
    "remainder": _remainder,
    "subtract": lambda x, y: x - y,
    "xlog1py": _times(_log1p),
    "xlogy": _times(_logarithm(mpmath.log)),
}
"""Operations of two numbers."""

SIGNED = {
    "arctan2": math.atan2,
    "copysign": math.copysign,
    "divide": np.divide,
    "float_power": np.float_power,
    "power": np.float_power,
    "psi": lambda x: -math.copysign(math.inf, x),
    "reciprocal": np.reciprocal,
}
"""Operations that make a difference between the two zeros, which mpmath does not know, and what they are there."""

# -- arguments

TURNS = [
    0.0, 0.25, 0.3, 0.3125, 0.5, 0.65, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 8.0, 26.0, 27.0, 28.0, 38.0, 40.0, 88.0, 104.0,
    math.pi / 4, math.pi / 2, math.pi, 3 * math.pi / 2, 1000 * math.pi, 0.6931471805599453, 1.4616321449683622,
    math.sqrt(0.5), math.sqrt(2) - 1, 700.0, 709.782712893384, 710.4758600739439, 745.1332191019412, 1024.0, 1074.0,
    2.0**-1022, 2.0**-1074, 2.0**-149, 2.0**-126, 2.0**-54, 2.0**-53, 2.0**-28, 2.0**-24, 2.0**23, 2.0**24, 2.0**28,
    2.0**30, 2.0**51, 2.0**52, 2.0**53, 2.0**60, 2.0**500, 2.0**600, 2.5e305, 2.559983327851638e305,
]  # fmt: skip
"""Where one of the formulas changes or ends, and ends of the range of numbers."""


def neighbourhood(dtype):
    """`TURNS` and the ends of the range, the two numbers on each side of each, and all of them with the other sign."""
    limits = np.finfo(dtype)
    with np.errstate(over="ignore", under="ignore"):
        middle = np.array([*TURNS, float(limits.max), float(limits.smallest_normal)]).astype(dtype)
        middle = middle[np.isfinite(middle)]
        found = [middle]
        for direction in (np.inf, -np.inf):
            step = middle
            for _ in range(2):
                step = np.nextafter(step, dtype_number(direction, dtype))
                found.append(step)
    numbers = np.concatenate(found)
    numbers = np.concatenate([numbers, -numbers])
    return numbers[np.isfinite(numbers)]


def dtype_number(number, dtype):
    return np.dtype(dtype).type(number)


def of_all_sizes(generator, count, dtype):
    """Finite numbers, log-uniformly over all exponents; an eighth of them subnormal, a half of moderate size."""
    kind = np.dtype(f"uint{8 * np.dtype(dtype).itemsize}")
    fraction = np.finfo(dtype).nmant
    bits = generator.integers(0, np.iinfo(kind).max, count, dtype=kind)
    bits[: count // 8] &= kind.type(((1 << fraction) - 1) | (1 << (8 * kind.itemsize - 1)))
    numbers = bits.view(dtype).copy()
    moderate = slice(count // 2, count)
    size = numbers[moderate].size
    with np.errstate(over="ignore"):
        numbers[moderate] = generator.choice([-1, 1], size) * 2.0 ** generator.uniform(-40, 12, size)
    numbers[~np.isfinite(numbers)] = dtype_number(np.finfo(dtype).max, dtype)
    return numbers


def related(generator, x, dtype):
    """For each number another: nearly equal or opposite, or with a quotient, product or power near the range's ends."""
    limits = np.finfo(dtype)
    way = generator.integers(0, 7, x.size)
    wide = x.astype(np.longdouble)
    noise = 1 + generator.choice([-1, 1], x.size) * 2.0 ** generator.uniform(-limits.nmant - 1, 0, x.size)
    smallest = float(limits.minexp - limits.nmant)
    ends = generator.choice([smallest, float(limits.minexp), float(limits.maxexp)], x.size)
    end = np.exp2((ends + generator.uniform(-3, 3, x.size)).astype(np.longdouble))
    with np.errstate(all="ignore"):
        logarithm = np.log2(np.abs(wide))
        ways = [wide * noise, -wide * noise, wide * end, wide / end, end / wide, np.log2(end) / logarithm]
        ways.append(of_all_sizes(generator, x.size, dtype).astype(np.longdouble))
        y = np.choose(way, ways).astype(dtype)
    y[~np.isfinite(y)] = 1
    return y


# -- comparison


def reference(name, arguments):
    """The exact answer, good to far more digits than either precision has."""
    if name in SIGNED and 0 in arguments:
        with np.errstate(all="ignore"):
            return mpmath.mpf(float(SIGNED[name](*map(float, arguments))))
    function = ONE.get(name) or TWO[name]
    with mpmath.workprec(PRECISION):
        return function(*[mpmath.mpf(float(x)) for x in arguments])


def error(name, dtype, result, arguments):
    """How far a result is from the truth, in units of the last place of the truth."""
    exact = reference(name, arguments)
    if mpmath.isnan(exact):
        return 0.0 if np.isnan(result) else math.inf
    distance = ulps(result, exact, dtype)
    if name in CANCELLING and math.isfinite(distance):
        with mpmath.workprec(PRECISION):
            term = CANCELLING[name](*[mpmath.mpf(float(x)) for x in arguments])
        if term is not None:
            smallest = int(np.finfo(dtype).minexp)
            places = [max(mpmath.frexp(number)[1] - 1, smallest) if number else smallest for number in (exact, term)]
            distance = math.ldexp(distance, min(0, places[0] - places[1]))
    return distance


CANCELLING = {
    "gammaln": lambda x: _gammaln(-x) if x < 0 and x != mpmath.floor(x) else None,
    "logaddexp": lambda x, y: max(x, y),
    "logaddexp2": lambda x, y: max(x, y),
    "psi": lambda x: _psi(1 - x) if x < 0 and x != mpmath.floor(x) else None,
}
"""Functions with zeros at which two numbers cancel: the one whose last place the error is counted in.

docs/jit.md states these exceptions.
"""


def worst(name, dtype, arguments, machine="host"):
    """The largest error of an operation over arrays of arguments, and where it is made."""
    results = native_operation(name, len(arguments), dtype, machine)(*arguments)
    found = (0.0, None)
    for result, *given in zip(results, *arguments, strict=True):
        found = max(found, (error(name, dtype, result, given), [float(x) for x in given]), key=lambda pair: pair[0])
    return found


def arguments_of(name, dtype, generator, count):
    """Arrays of arguments for an operation: numbers of all sizes, neighbours of turning points, related pairs."""
    near = neighbourhood(dtype)
    if name in ONE:
        return [np.concatenate([of_all_sizes(generator, count, dtype), generator.choice(near, count)])]
    x = np.concatenate([of_all_sizes(generator, count, dtype), generator.choice(near, count)])
    y = np.concatenate([related(generator, x[:count], dtype), generator.choice(near, count)])
    return [x, y]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", help="names of operations")
    parser.add_argument("--machine", choices=["host", "oldest"], default="host")
    options = parser.parse_args()
    end, numbers, largest = time.monotonic() + 60 * options.minutes, 0, {}
    generator = np.random.default_rng(options.seed)
    while time.monotonic() < end:
        for name in options.only or [*ONE, *TWO]:
            for dtype in ("float64", "float32"):
                arguments = arguments_of(name, dtype, generator, 100)
                numbers += arguments[0].size
                found = worst(name, dtype, arguments, options.machine)
                largest[name, dtype] = max(largest.get((name, dtype), (0.0, None)), found, key=lambda pair: pair[0])
    for (name, dtype), (size, where) in sorted(largest.items(), key=lambda item: -item[1][0]):
        print(f"{name:16} {dtype:8} {size:10.3f} ulp at {where}")
    wrong = sum(size >= BOUND for size, _ in largest.values())
    print(f"{numbers} results, seed {options.seed}: {wrong} of {len(largest)} operations beyond {BOUND} ulp")
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
