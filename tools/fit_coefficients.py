"""Computes the polynomial coefficients of `gradtape/jit/native/math`, and writes them to its `coefficients.py`.

Each row below names a smooth function and the interval on which it is needed. The polynomial interpolates the
function at Chebyshev's nodes with 60 digits, which is within a small factor of the best polynomial of its degree;
the degree is the smallest whose relative error (before the coefficients are rounded to binary64) is below the
target. It is run by hand (it needs mpmath, which is in the test extra):

    python tools/fit_coefficients.py
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
from mpmath import mp, mpf

Function = Callable[[Any], Any]
TABLE = Path(__file__).parents[1] / "gradtape" / "jit" / "native" / "math" / "coefficients.py"

TARGETS = {"double": mpf(2) ** -57, "single": mpf(2) ** -36, "binary32": mpf(2) ** -26}


def around_zero(formula: Function, series: Function) -> Function:
    """The formula where it is well conditioned, its series where it would cancel or divide by zero."""
    return lambda t: series(t) if abs(t) < mpf(10) ** -18 else formula(t)


def scaled_complement(t: Any) -> Any:
    """`exp(x*x) * erfc(x) * (1 + 2 x)` for `x = 2 (1 + t) / (1 - t)`: nearly flat from t = -1 (x = 0) to t = 1."""
    if t >= 1:
        return 2 / mpmath.sqrt(mp.pi)
    x = 2 * (1 + t) / (1 - t)
    if x > 1000:  # the first terms of the asymptotic series: the rest is below 1e-17 of the third
        inverse = 1 / (2 * x * x)
        series = 1 - inverse + 3 * inverse**2 - 15 * inverse**3 + 105 * inverse**4 - 945 * inverse**5
        return series / (x * mpmath.sqrt(mp.pi)) * (1 + 2 * x)
    return mpmath.exp(x * x) * mpmath.erfc(x) * (1 + 2 * x)


def root(t: Any) -> Any:
    return mpmath.sqrt(t)


DIGAMMA_ZERO = 1.4616321449683622, 9.549995429965697e-17  # where digamma is zero, in two parts


def gamma_rows() -> dict[str, tuple[Function, Any, Any]]:
    """Pieces of log gamma, digamma and trigamma, in t from -1 to 1; from 8 on what is left of Stirling's series."""
    zero = mpf(DIGAMMA_ZERO[0]) + mpf(DIGAMMA_ZERO[1])

    def beyond(function: Callable[[Any, Any], Any], limit: Any) -> Function:
        return lambda z: limit if z < mpf(10) ** -18 else function(1 / root(z), z)

    def stirling(x: Any, z: Any) -> Any:
        return (mpmath.loggamma(x) - ((x - mpf(1) / 2) * mpmath.log(x) - x + mpmath.log(2 * mp.pi) / 2)) * x

    return {
        # log gamma(x) = (x - 1) (x - 2) P(t) with x = 1 + t and with x = 2 + t
        "gammaln_1": (
            around_zero(lambda t: mpmath.loggamma(1 + t) / (t * (t - 1)), lambda t: mp.euler),
            -mpf("0.5001"),
            mpf("0.5001"),
        ),
        "gammaln_2": (
            around_zero(lambda t: mpmath.loggamma(2 + t) / (t * (t + 1)), lambda t: 1 - mp.euler),
            -mpf("0.5001"),
            mpf("0.5001"),
        ),
        # log gamma(x) = (x - 2) P(t) with x = 3.25 + t and with x = 6 + t
        "gammaln_3": (
            lambda t: mpmath.loggamma(mpf("3.25") + t) / (mpf("1.25") + t),
            -mpf("0.7501"),
            mpf("0.7501"),
        ),
        "gammaln_6": (lambda t: mpmath.loggamma(6 + t) / (4 + t), -mpf("2.0001"), mpf("2.0001")),
        # log gamma(x) = (x - 1/2) log x - x + log(2 pi) / 2 + P(1 / x**2) / x
        "gammaln_far": (beyond(stirling, mpf(1) / 12), mpf(0), mpf("0.01563")),
        # digamma(x) = (x - zero) P(t) with x = 1.5 + t and with x = 3 + t; digamma(6 + t)
        "psi_1": (lambda t: _slope_to(mpf("1.5") + t, zero), -mpf("0.5001"), mpf("0.5001")),
        "psi_3": (lambda t: _slope_to(3 + t, zero), -mpf("1.0001"), mpf("1.0001")),
        "psi_6": (lambda t: mpmath.digamma(6 + t), -mpf("2.0001"), mpf("2.0001")),
        # digamma(x) = log x - 1 / (2 x) - P(1 / x**2) / x**2
        "psi_far": (
            beyond(lambda x, z: (mpmath.log(x) - 1 / (2 * x) - mpmath.digamma(x)) / z, mpf(1) / 12),
            mpf(0),
            mpf("0.01563"),
        ),
        # x**2 trigamma(x) at 1 + t, at 3 + t and at 6 + t
        "trigamma_1": (
            lambda t: mpf(1) if t <= -1 else (1 + t) ** 2 * mpmath.polygamma(1, 1 + t),
            -mpf(1),
            mpf("1.0001"),
        ),
        "trigamma_3": (lambda t: (3 + t) ** 2 * mpmath.polygamma(1, 3 + t), -mpf("1.0001"), mpf("1.0001")),
        "trigamma_6": (lambda t: (6 + t) ** 2 * mpmath.polygamma(1, 6 + t), -mpf("2.0001"), mpf("2.0001")),
        # trigamma(x) = 1 / x + 1 / (2 x**2) + P(1 / x**2) / x**3
        "trigamma_far": (
            beyond(lambda x, z: (mpmath.polygamma(1, x) - 1 / x - z / 2) * x / z, mpf(1) / 6),
            mpf(0),
            mpf("0.01563"),
        ),
    }


def _slope_to(x: Any, zero: Any) -> Any:
    """digamma(x) / (x - zero)."""
    if abs(x - zero) < mpf(10) ** -20:
        return mpmath.polygamma(1, zero)
    return mpmath.digamma(x) / (x - zero)


def rows() -> dict[str, tuple[Function, Any, Any]]:
    """Name: (function, lower end, upper end). The variable is the square of x where the function is even or odd."""
    half_log_two = mpmath.log(2) / 2 * mpf("1.0001")
    quarter_pi = (mp.pi / 4) ** 2 * mpf("1.0001")
    atanh_end = ((mpmath.sqrt(2) - 1) / (mpmath.sqrt(2) + 1)) ** 2 * mpf("1.0001")
    atan_end = (mpmath.sqrt(2) - 1) ** 2 * mpf("1.0001")
    return {
        # exp(r) = 1 + r + r**2 * P(r)
        "exp": (
            around_zero(lambda r: (mpmath.exp(r) - 1 - r) / r**2, lambda r: mpf(1) / 2 + r / 6),
            -half_log_two,
            half_log_two,
        ),
        # log((1 + s) / (1 - s)) = 2 s + 2/3 s**3 + s**5 * P(s**2)
        "log": (
            around_zero(
                lambda z: (2 * mpmath.atanh(root(z)) - 2 * root(z) - 2 * root(z) ** 3 / 3) / root(z) ** 5,
                lambda z: mpf(2) / 5 + 2 * z / 7,
            ),
            mpf(0),
            atanh_end,
        ),
        # sin(r) = r + r**3 * P(r**2)
        "sin": (
            around_zero(lambda z: (mpmath.sin(root(z)) - root(z)) / root(z) ** 3, lambda z: -mpf(1) / 6 + z / 120),
            mpf(0),
            quarter_pi,
        ),
        # cos(r) = 1 - r**2 / 2 + r**4 * P(r**2)
        "cos": (
            around_zero(lambda z: (mpmath.cos(root(z)) - 1 + z / 2) / z**2, lambda z: mpf(1) / 24 - z / 720),
            mpf(0),
            quarter_pi,
        ),
        # atan(q) = q + q**3 * P(q**2)
        "atan": (
            around_zero(lambda z: (mpmath.atan(root(z)) - root(z)) / root(z) ** 3, lambda z: -mpf(1) / 3 + z / 5),
            mpf(0),
            atan_end,
        ),
        # asin(q) = q + q**3 * P(q**2)
        "asin": (
            around_zero(lambda z: (mpmath.asin(root(z)) - root(z)) / root(z) ** 3, lambda z: mpf(1) / 6 + 3 * z / 40),
            mpf(0),
            mpf("0.2501"),
        ),
        # cbrt(m) for m in [1, 2], as a start for Newton's steps (a short polynomial is enough: see `cbrt`)
        "cbrt_start": (lambda t: mpmath.cbrt(1 + t), mpf(0), mpf(1)),
        # erf(x) = x * (2/sqrt(pi) + x**2 * P(x**2))
        "erf": (
            around_zero(
                lambda z: (mpmath.erf(root(z)) / root(z) - 2 / mpmath.sqrt(mp.pi)) / z,
                lambda z: 2 / mpmath.sqrt(mp.pi) * (-mpf(1) / 3 + z / 10),
            ),
            mpf(0),
            mpf("1.0001"),
        ),
        # exp(x*x) erfc(x) (1 + 2 x) = P(t), t = (x - 2) / (x + 2)
        "erfc": (scaled_complement, mpf(-1), mpf(1)),
        **gamma_rows(),
    }


def binary32_rows() -> dict[str, tuple[Function, Any, Any]]:
    """The functions that are computed in binary32 throughout: see `math.binary32`."""
    shared = rows()
    return {
        "exp": shared["exp"],
        "erf": shared["erf"],
        # erfc(x) = exp(-P(t)) with x = 1 + t, where 1 - erfc(x) needs few digits of it
        "log_erfc": (lambda t: -mpmath.log(mpmath.erfc(1 + t)), -mpf("0.0001"), mpf("3.0001")),
        # tanh(x) = x + x**3 * P(x**2)
        "tanh": (
            around_zero(lambda z: (mpmath.tanh(root(z)) / root(z) - 1) / z, lambda z: -mpf(1) / 3 + 2 * z / 15),
            mpf(0),
            mpf("0.3907"),
        ),
    }


def interpolate(function: Function, low: Any, high: Any, degree: int) -> list[Any]:
    """The coefficients, constant first, of the polynomial through Chebyshev's nodes."""
    count = degree + 1
    nodes = [mpmath.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]
    points = [(low + high) / 2 + (high - low) / 2 * node for node in nodes]
    table = [function(point) for point in points]
    # Newton's divided differences, then expanded into powers of the variable
    for step in range(1, count):
        for i in range(count - 1, step - 1, -1):
            table[i] = (table[i] - table[i - 1]) / (points[i] - points[i - step])
    powers = [mpf(0)] * count
    for i in range(count - 1, -1, -1):
        shifted = [mpf(0), *powers[:-1]]
        powers = [shifted[j] - points[i] * powers[j] for j in range(count)]
        powers[0] += table[i]
    return powers


def relative_error(function: Function, coefficients: list[Any], low: Any, high: Any, samples: int = 250) -> Any:
    """The largest relative error of the polynomial over a grid of the interval, in exact arithmetic."""
    worst = mpf(0)
    for i in range(samples + 1):
        point = low + (high - low) * i / samples
        exact = function(point)
        worst = max(worst, abs((mpmath.polyval(coefficients[::-1], point) - exact) / exact))
    return worst


# How much smaller a term is than the result it is added to: its own relative error may be larger by that factor.
SLACK = {"log": 10**3, "sin": 6, "cos": 40, "exp": 4, "asin": 12, "atan": 12, "erf": 2, "tanh": 8}
START_ACCURACY = mpf(2) ** -13


def fit(name: str, function: Function, low: Any, high: Any, target: Any) -> list[Any]:
    """The shortest polynomial whose error is below the target."""
    wanted = START_ACCURACY if name == "cbrt_start" else target * SLACK.get(name, 1)
    degree = 1
    while relative_error(function, coefficients := interpolate(function, low, high, degree), low, high) >= wanted:
        degree += 1
    return coefficients


def main() -> None:
    mp.dps = 60
    lines = ['"""Coefficients of the vector maths, lowest power first; written by `tools/fit_coefficients.py`."""']
    for title, table in (("DOUBLE", rows()), ("SINGLE", rows()), ("BINARY32", binary32_rows())):
        lines += ["", f"{title}: dict[str, tuple[float, ...]] = {{"]
        for name, (function, low, high) in table.items():
            coefficients = fit(name, function, low, high, TARGETS[title.lower()])
            lines.append(f'    "{name}": (')
            lines += [f"        {float(value)!r}," for value in coefficients]
            lines.append("    ),")
            if name == "erfc":  # the constant term in two parts
                lines.append(f'    "erfc_low": ({float(coefficients[0] - float(coefficients[0]))!r},),')
            print(title, name, len(coefficients))
        lines.append("}")
    TABLE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
