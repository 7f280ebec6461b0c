"""The noncentral distributions of chi squared and Student.

Noncentral chi squared is a mixture of central ones with Poisson weights, summed until those are below rounding. The
noncentral t is (Z + nc) / S with Z normal and S^2 df chi squared: an integral over S, by the trapezoidal rule in log S.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import elementwise
from gradtape.ops.special.declare import scipy_ufunc
from gradtape.ops.special.distribution_functions import UNIT, Family
from gradtape.ops.special.errorfunctions import NORMAL_PEAK
from gradtape.ops.special.incomplete import (
    _gamma_density_kernel,
    _gamma_derivative_kernel,
    _gamma_slopes,
    _polynomial,
)
from gradtape.ops.special.rows import double_kernel, in_precision, refuse_complex, samples_of

# -- chi squared


def _mixture(x: Any, df: Any, nc: Any, term: Any) -> Any:
    """The sum of Poisson weights of mean nc / 2 times `term(df / 2 + k, x / 2)`."""
    point, shape, mean = np.broadcast_arrays(*(np.asarray(v, float) / 2 for v in (x, df, nc)))
    first = max(int(np.min(mean - 12 * np.sqrt(mean), initial=np.inf if mean.size else 0.0)) - 30, 0)
    last = int(np.max(mean + 12 * np.sqrt(mean), initial=0.0)) + 30
    k = np.arange(first, last).reshape(-1, *(1,) * point.ndim)
    weights = np.exp(scipy_ufunc("xlogy")(k, mean) - mean - scipy_ufunc("gammaln")(k + 1.0))
    return np.sum(weights * term(shape + k, point + 0 * k), axis=0)


def _chi_kernel(x: Any, df: Any, nc: Any, i: int) -> Any:
    refuse_complex(x, df, nc)
    if i == 0:
        return double_kernel("chndtr")(x, df, nc)
    total = _mixture(x, df, nc, lambda a, y: _gamma_derivative_kernel(a, y, i))
    return in_precision(total * 0.5**i, x, df, nc)


def _density_derivative(a: Any, y: Any, i: int, j: int) -> Any:
    """i times by a and j times by y of the gamma density g, from y g' = (a - 1 - y) g."""
    if j == 0:
        return _gamma_density_kernel(a, y) * _polynomial(i, 0, _gamma_slopes(i, np.log(y), a))
    found = (a - j - y) * _density_derivative(a, y, i, j - 1)
    found = found + i * _density_derivative(a, y, i - 1, j - 1) if i else found
    found = found - (j - 1) * _density_derivative(a, y, i, j - 2) if j > 1 else found
    return found / y


def _chi_density_kernel(x: Any, df: Any, nc: Any, i: int, j: int) -> Any:
    refuse_complex(x, df, nc)
    total = _mixture(x, df, nc, lambda a, y: _density_derivative(a, y, i, j))
    return in_precision(total * 0.5 ** (i + j + 1), x, df, nc)


chi_density: Op = elementwise(
    _chi_density_kernel,
    lambda x, df, nc, i, j: chi_density(x, df, nc, i=i, j=j + 1),
    lambda x, df, nc, i, j: chi_density(x, df, nc, i=i + 1, j=j),
    lambda x, df, nc, i, j: 0.5 * (chi_density(x, df + 2, nc, i=i, j=j) - chi_density(x, df, nc, i=i, j=j)),
    name="noncentral chi squared density",
    names=("x", "df", "nc"),
    samples=lambda draw: [
        (
            (draw.between((1.0, 5.0), (2,)), draw.between((1.0, 3.0), ()), draw.between((0.5, 3.0), ())),
            {"i": 0, "j": 0},
        ),
        (
            (draw.between((1.0, 5.0), ()), draw.between((1.0, 3.0), ()), draw.between((0.5, 3.0), (1,))),
            {"i": 1, "j": 1},
        ),
    ],
    doc="A derivative of the density: i times by df, j times by x. Derivatives: the next; by nc, a difference in df.",
)
chi_derivative: Op = elementwise(
    _chi_kernel,
    lambda x, df, nc, i: chi_density(x, df, nc, i=i, j=0),
    lambda x, df, nc, i: chi_derivative(x, df, nc, i=i + 1),
    lambda x, df, nc, i: 0.5 * (chi_derivative(x, df + 2, nc, i=i) - chi_derivative(x, df, nc, i=i)),
    name="derivative of chndtr",
    names=("x", "df", "nc"),
    samples=lambda draw: [
        ((draw.between((1.0, 5.0), (2,)), draw.between((1.0, 3.0), ()), draw.between((0.5, 3.0), ())), {"i": 0}),
        ((draw.between((1.0, 5.0), ()), draw.between((1.0, 3.0), ()), draw.between((0.5, 3.0), (1,))), {"i": 1}),
    ],
    doc="A derivative of chndtr by df. Derivatives: the next one; the density; by nc, a difference in df.",
)
_chi = Family(
    "x df nc",
    x=lambda x, df, nc: chi_density(x, df, nc, i=0, j=0),
    df=lambda x, df, nc: chi_derivative(x, df, nc, i=1),
    nc=lambda x, df, nc: 0.5 * (chi_derivative(x, df + 2, nc, i=0) - chi_derivative(x, df, nc, i=0)),
)
chndtr = _chi.function(
    "chndtr",
    samples_of((1.0, 5.0), (1.0, 3.0), (0.5, 3.0)),
    (
        "The distribution function of noncentral chi squared",
        "the density in x, a mixture of those of gammainc in df, and (chndtr(x, df + 2, nc) - chndtr(x, df, nc)) / 2",
        "chndtr(3.0, 2.0, 1.0) -> 0.62064365, 0.12876542, -0.15183033, -0.14463119",
    ),
)
chndtrix = _chi.solution(
    "chndtrix",
    "p df nc",
    "x",
    samples_of(UNIT, (1.0, 3.0), (0.5, 3.0)),
    "chndtrix(0.5, 2.0, 1.0) -> 2.17703855, 6.03407167, 1.04791306, 0.87055161",
)
chndtridf = _chi.solution(
    "chndtridf",
    "x p nc",
    "df",
    samples_of((4.0, 5.0), (0.4, 0.6), (0.5, 1.0)),
    "chndtridf(4.0, 0.5, 1.0) -> 3.76937427, 0.98101388, -7.59347965, -0.89012567",
)
chndtrinc = _chi.solution(
    "chndtrinc",
    "x df p",
    "nc",
    samples_of((5.0, 6.0), (1.0, 2.0), (0.4, 0.6)),
    "chndtrinc(5.0, 2.0, 0.5) -> 3.95584692, 1.01219066, -1.05006115, -10.67965625",
)

# -- Student: the integral of Phi(t s - nc) p(s) over s > 0. By nc and t it moves the normal distribution, by df the
#    density p of s, log p = df / 2 log(df / 2) - log gamma(df / 2) + (df - 1) log s - df s^2 / 2 + log 2

NODES = 800


def _root_slopes(order: int, df: Any, log_s: Any, s: Any) -> dict[tuple[int, int], Any]:
    """The derivatives of log p by df."""
    half = df / 2
    found = {(1, 0): 0.5 * np.log(half) + 0.5 - 0.5 * scipy_ufunc("psi")(half) + log_s - 0.5 * s * s}
    for n in range(2, order + 1):
        power = (-1.0) ** n * float(np.prod(np.arange(1.0, n - 1))) / (2 * df ** (n - 1))
        found[n, 0] = power - 0.5**n * scipy_ufunc("polygamma")(n - 1, half)
    return found


def _student_kernel(df: Any, nc: Any, t: Any, i: int, k: int, n: int) -> Any:
    """The integral of s^k times the i-th derivative of Phi at t s - nc times the n-th derivative of p by df."""
    refuse_complex(df, nc, t)
    if i == k == n == 0:
        return double_kernel("nctdtr")(df, nc, t)
    freedom, shift, place = (v[..., None] for v in np.broadcast_arrays(*(np.asarray(v, float) for v in (df, nc, t))))
    lowest, highest = -42 / freedom - 1, 0.5 * np.log(1 + (84 + 4 * n) / freedom)
    log_s = lowest + (highest - lowest) * np.linspace(0, 1, NODES)
    s, half = np.exp(log_s), freedom / 2
    log_p = half * np.log(half) - scipy_ufunc("gammaln")(half) + freedom * log_s - half * s * s + np.log(2)
    z = place * s - shift
    if i == 0:
        normal = scipy_ufunc("ndtr")(z)
    else:
        before, hermite = np.zeros_like(z), np.ones_like(z)
        for step in range(i - 1):
            before, hermite = hermite, -z * hermite - step * before
        normal = NORMAL_PEAK * hermite * np.exp(-0.5 * z * z)
    weights = _polynomial(n, 0, _root_slopes(n, freedom, log_s, s)) if n else 1.0
    total = np.sum(s**k * normal * weights * np.exp(log_p), axis=-1)
    return in_precision(total * ((highest - lowest)[..., 0] / (NODES - 1)), df, nc, t)


student_derivative: Op = elementwise(
    _student_kernel,
    lambda df, nc, t, i, k, n: student_derivative(df, nc, t, i=i, k=k, n=n + 1),
    lambda df, nc, t, i, k, n: -student_derivative(df, nc, t, i=i + 1, k=k, n=n),
    lambda df, nc, t, i, k, n: student_derivative(df, nc, t, i=i + 1, k=k + 1, n=n),
    name="derivative of nctdtr",
    names=("df", "nc", "t"),
    samples=lambda draw: [
        (
            (draw.between((2.0, 5.0), (2,)), draw.between((0.5, 2.0), ()), draw.between((-1.0, 3.0), ())),
            {"i": 1, "k": 0, "n": 0},
        ),
        (
            (draw.between((2.0, 5.0), ()), draw.between((0.5, 2.0), ()), draw.between((-1.0, 3.0), (1,))),
            {"i": 1, "k": 1, "n": 1},
        ),
        (
            (draw.between((2.0, 5.0), ()), draw.between((0.5, 2.0), ()), draw.between((-1.0, 3.0), (1,))),
            {"i": 0, "k": 0, "n": 1},
        ),
    ],
    doc="An integral of the noncentral t distribution. Derivatives: integrals of the same kind.",
)
_student = Family(
    "df nc t",
    df=lambda df, nc, t: student_derivative(df, nc, t, i=0, k=0, n=1),
    nc=lambda df, nc, t: -student_derivative(df, nc, t, i=1, k=0, n=0),
    t=lambda df, nc, t: student_derivative(df, nc, t, i=1, k=1, n=0),
)
nctdtr = _student.function(
    "nctdtr",
    samples_of((2.0, 5.0), (0.5, 2.0), (-1.0, 3.0)),
    (
        "The distribution function of the noncentral t",
        "integrals over the root of chi squared",
        "nctdtr(3.0, 1.0, 2.0) -> 0.74362987, 0.02671624, -0.26103372, 0.19555939",
    ),
)
nctdtrit = _student.solution(
    "nctdtrit",
    "df nc p",
    "t",
    samples_of((2.0, 5.0), (0.5, 2.0), UNIT),
    "nctdtrit(3.0, 1.0, 0.5) -> 1.09115255, -0.03292028, 1.1011643, 2.9976921",
)
nctdtrinc = _student.solution(
    "nctdtrinc",
    "df p t",
    "nc",
    samples_of((2.0, 5.0), UNIT, (1.5, 3.0)),
    "nctdtrinc(3.0, 0.5, 2.0) -> 1.81816457, 0.06252916, -3.17438497, 0.89330602",
    function="nctdtr",
)
nctdtridf = _student.solution(
    "nctdtridf",
    "p nc t",
    "df",
    samples_of((0.72, 0.74), (0.5, 0.52), (1.3, 1.35)),
    "nctdtridf(0.75, 0.5, 1.5) -> 2.02761089, 27.21801404, 7.32385376, -5.07020481",
    function="nctdtr",
)
