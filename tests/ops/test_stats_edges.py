"""Distributions at the ends: of their parameters, of the numbers there are, and of what formulas can take."""

from __future__ import annotations

from math import lgamma, log, pi
from typing import Any

import numpy as np
import pytest
import scipy.stats

import gradtape as gt
from gradtape import stats

SIDES = ["cdf", "sf", "logcdf", "logsf"]


def gradients(function: Any, *arguments: float) -> list[float]:
    """The derivatives of a function in all its arguments."""
    points = [np.array(float(argument)) for argument in arguments]
    return [float(g) for g in gt.grad(function, tuple(range(len(points))))(*points)]


# -- where a number is too large or too small


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("gumbel_r", (-1000.0,)),
        ("weibull_min", (1.7, 1e4)),
        ("truncnorm", (-1e200, -np.inf, 1.0)),
        ("invgamma", (1e-200, 2.0)),
    ],
)
def test_where_the_probability_is_nothing_nothing_moves(name: str, arguments: tuple[float, ...]) -> None:
    """Where a density is 0 to all digits its slope and that of both sides are 0, however steep the logarithm is."""
    distribution = getattr(stats, name)
    assert distribution.pdf(*arguments) == 0
    for method in ("pdf", "cdf", "sf", "logsf" if name != "weibull_min" else "logcdf"):
        slopes = gradients(getattr(distribution, method), *arguments)
        assert slopes == [0.0] * len(slopes), method
        mapped = gt.vmap(gt.grad(getattr(distribution, method)))(*(np.array([a, a]) for a in arguments))
        assert mapped.tolist() == [0.0, 0.0]


def test_a_gumbel_variable_falls_like_an_exponential_one() -> None:
    """Far out log(1 - exp(-exp(-z))) is -z, and its slopes are those of -z."""
    assert float(stats.gumbel_r.logsf(1000.0)) == -1000.0
    assert gradients(stats.gumbel_r.logsf, 1000.0, 0.0, 1.0) == [-1.0, 1.0, 1000.0]
    z = np.linspace(-2, 12, 57)
    np.testing.assert_allclose(stats.gumbel_r.logsf(z), np.log(-np.expm1(-np.exp(-z))), rtol=1e-13)


def test_what_rises_like_a_power_has_its_logarithm() -> None:
    """Near 0 the logarithm of the distribution function is that of z^c, or z^2 / 2, where the power is no number."""
    assert float(stats.weibull_min.logcdf(1e-20, 37.5)) == pytest.approx(37.5 * log(1e-20), rel=1e-14)
    assert gradients(lambda z, c: stats.weibull_min.logcdf(z, c), 1e-20, 37.5) == pytest.approx([3.75e21, log(1e-20)])
    assert float(stats.rayleigh.logcdf(1e-200)) == pytest.approx(2 * log(1e-200) - log(2), rel=1e-14)


@pytest.mark.parametrize("x", [1e16, 1e100, 1e300])
def test_gamma_tail_reaches_to_the_largest_numbers(x: float) -> None:
    """However far out, the logarithm of the tail is about -x and falls by 1."""
    for a in (1e-10, 2.5, 1e3):
        assert float(stats.gamma.logsf(x, a)) == pytest.approx(-x, rel=1e-11)
        assert gradients(stats.gamma.logsf, x, a)[0] == pytest.approx(-1.0)
    assert float(stats.invgamma.logcdf(1 / x, 2.0)) == pytest.approx(-x, rel=1e-12)


def test_student_tail_reaches_to_the_largest_numbers() -> None:
    """Where t^2 is too large for a number, the density and the tail still are powers of t."""
    df, t = 3.0, 1e300
    height = lgamma(2.0) - lgamma(1.5) - 0.5 * log(3 * pi) + 2 * log(3)
    assert float(stats.t.logpdf(t, df)) == pytest.approx(height - 4 * log(t), rel=1e-14)
    assert float(stats.t.logsf(t, df)) == pytest.approx(height - 3 * log(t) - log(3), rel=1e-13)
    assert gradients(stats.t.logpdf, t, df)[0] == pytest.approx(-4 / t)
    assert gradients(stats.t.logsf, t, df)[0] == pytest.approx(-3 / t)


@pytest.mark.parametrize("method", ["logpdf", "pdf", *SIDES])
def test_infinitely_many_degrees_of_freedom_are_the_normal_distribution(method: str) -> None:
    """As in SciPy, Student's distribution with df = inf is the normal one, beside others with a finite df."""
    found = getattr(stats.t, method)([-1.3, 0.4], [np.inf, 4.0])
    expected = [getattr(scipy.stats.norm, method)(-1.3), getattr(scipy.stats.t, method)(0.4, 4.0)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    slope, in_df = gradients(getattr(stats.t, method), -1.3, np.inf)
    assert slope == pytest.approx(gradients(getattr(stats.norm, method), -1.3)[0])
    assert in_df == 0.0


def test_quantile_of_infinitely_many_degrees_of_freedom() -> None:
    """The quantile of Student's distribution with df = inf is the normal one."""
    assert float(stats.t.ppf(0.3, np.inf)) == pytest.approx(float(stats.norm.ppf(0.3)))


def test_many_degrees_of_freedom_cost_f_no_digits() -> None:
    """With dfn = dfd = 2 n, the density of F at 1 is gamma(n + 1/2) / (2 sqrt(pi) gamma(n)), by Stirling's formula."""
    n = 5e8
    expected = 0.5 * log(n / pi) - log(2) - 0.125 / n
    assert float(stats.f.logpdf(1.0, 2 * n, 2 * n)) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(("a", "b"), [(-1e-8, 1e-8), (0.7, 0.7 + 1e-9), (-3.0, -3.0 + 1e-12), (-0.01, 0.01)])
def test_a_narrow_truncation_is_uniform(a: float, b: float) -> None:
    """Between bounds that almost meet, a truncated normal variable has the middle as its median, to all digits."""
    middle = 0.5 * (a + b)
    share = (middle - a) / (b - a)
    assert float(stats.truncnorm.cdf(middle, a, b)) == pytest.approx(share, rel=3e-9)
    assert float(stats.truncnorm.logpdf(middle, a, b)) == pytest.approx(-log(b - a), abs=2e-5)
    assert gradients(stats.truncnorm.cdf, middle, a, b)[0] == pytest.approx(1 / (b - a), rel=2e-5)


def test_a_quantile_that_is_no_number_does_not_move() -> None:
    """Where a quantile is too large or too small for a number it is infinite or at the end, with gradients of 0."""
    assert gradients(stats.pareto.ppf, 0.5, 1e-6) == [0.0, 0.0]
    assert gradients(stats.invgamma.isf, 0.5, 1e-6) == [0.0, 0.0]
    q, b = np.array([0.5, 0.5]), np.array([1e-6, 2.0])
    assert gt.grad(lambda b: np.where(b > 1, stats.pareto.ppf(q, b), 0).sum())(b).tolist()[0] == 0.0


def test_a_small_density_is_a_number() -> None:
    """p of one success in one trial is p, where p^2 is too small for a number; so is its slope."""
    assert float(stats.binom.pmf(1, 1, 1e-300)) == pytest.approx(1e-300, rel=1e-12)
    assert float(stats.poisson.pmf(1, 1e-300)) == pytest.approx(1e-300, rel=1e-12)
    assert gradients(lambda p: stats.binom.pmf(1, 1, p), 1e-300) == pytest.approx([1.0])


def test_single_precision_does_not_overflow_between() -> None:
    """Large shapes in single precision give probabilities that are those of double precision, rounded."""
    for distribution, x, shapes in (
        (stats.beta, [0.01, 0.1, 0.9], (30.0, 1000.0)),
        (stats.beta, [0.5, 0.9], (1000.0, 30.0)),
        (stats.binom, [19.0, 900.0], (1000.0, 0.9)),
    ):
        single = [np.array(argument, "float32") for argument in (x, *shapes)]
        for method in SIDES:
            found = getattr(distribution, method)(*single)
            assert found.dtype == np.float32
            exact = getattr(distribution, method)(*(argument.astype(float) for argument in single))
            np.testing.assert_allclose(found, exact.astype("float32"), rtol=2e-5, atol=1e-30)


# -- parameters at their ends

AT_ENDS: list[tuple[str, Any, int, float, float]] = [
    # the mass, k, the parameter, and its slope there: of p (1 - p), and the like
    ("bernoulli", lambda p: (p,), 1, 0.0, 1.0),
    ("bernoulli", lambda p: (p,), 1, 1.0, 1.0),
    ("bernoulli", lambda p: (p,), 0, 1.0, -1.0),
    ("binom", lambda p: (5, p), 0, 0.0, -5.0),
    ("binom", lambda p: (5, p), 1, 0.0, 5.0),
    ("binom", lambda p: (5, p), 2, 0.0, 0.0),
    ("binom", lambda p: (5, p), 4, 1.0, -5.0),
    ("binom", lambda p: (5, p), 5, 1.0, 5.0),
    ("poisson", lambda mu: (mu,), 0, 0.0, -1.0),
    ("poisson", lambda mu: (mu,), 1, 0.0, 1.0),
    ("poisson", lambda mu: (mu,), 2, 0.0, 0.0),
    ("nbinom", lambda p: (3.0, p), 0, 1.0, 3.0),
    ("nbinom", lambda p: (3.0, p), 1, 1.0, -3.0),
    ("geom", lambda p: (p,), 1, 1.0, 1.0),
    ("geom", lambda p: (p,), 2, 1.0, -1.0),
    ("geom", lambda p: (p,), 3, 1.0, 0.0),
]


@pytest.mark.parametrize(("name", "parameters", "k", "end", "slope"), AT_ENDS)
def test_masses_have_slopes_at_the_ends_of_their_parameters(
    name: str, parameters: Any, k: int, end: float, slope: float
) -> None:
    """A mass is a smooth function of a probability or a rate, at 0 and 1 too; its sides are sums of such."""
    distribution = getattr(stats, name)
    assert gradients(lambda p: distribution.pmf(k, *parameters(p)), end) == pytest.approx([slope], abs=1e-12)
    first = 1 if name == "geom" else 0
    total = sum(row[4] for row in AT_ENDS if row[0] == name and row[3] == end and first <= row[2] <= k)
    if all(any(row[0] == name and row[3] == end and row[2] == i for row in AT_ENDS) for i in range(first, k + 1)):
        assert gradients(lambda p: distribution.cdf(k, *parameters(p)), end) == pytest.approx([total], abs=1e-12)
        assert gradients(lambda p: distribution.sf(k, *parameters(p)), end) == pytest.approx([-total], abs=1e-12)


@pytest.mark.parametrize(
    ("name", "parameters", "ends"),
    [
        ("bernoulli", lambda p: (p,), (0.0, 1.0)),
        ("binom", lambda p: (5, p), (0.0, 1.0)),
        ("poisson", lambda mu: (mu,), (0.0,)),
        ("nbinom", lambda p: (2.5, p), (1.0,)),
        ("geom", lambda p: (p,), (1.0,)),
    ],
)
def test_no_gradient_is_nan_at_the_ends_of_parameters(name: str, parameters: Any, ends: tuple[float, ...]) -> None:
    """Inside of the support, outside and beside the integers, values are SciPy's and gradients are no NaN."""
    k = np.array([-2, 0, 0.5, 1, 2, 4, 5, 6, 1000])
    for end in ends:
        for method in ("logpmf", "pmf", *SIDES):
            point = np.full(k.shape, end)
            function = getattr(getattr(stats, name), method)
            value, pull = gt.vjp(lambda p, function=function: function(k, *parameters(p)), point)
            with np.errstate(all="ignore"):
                expected = getattr(getattr(scipy.stats, name), method)(k, *parameters(point))
            np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-15)
            assert not np.isnan(pull(np.ones(k.shape))[0]).any(), method


# -- vectors


@pytest.mark.parametrize(
    ("x", "arguments"),
    [((), ()), ((4,), ()), ((4,), (0.5,)), ((4,), (0.5, 2.0)), ((4, 1), ()), ((4,), ([1.0],)), ((3,), (np.zeros(3),))],
)
def test_what_a_vector_of_numbers_is_to_the_normal_distribution(x: tuple[int, ...], arguments: Any) -> None:
    """One point if the mean has several components, else as many numbers: SciPy's reading, and its values."""
    point = np.random.default_rng(0).normal(size=x)
    found = stats.multivariate_normal.logpdf(point, *arguments)
    expected = scipy.stats.multivariate_normal.logpdf(point, *arguments)
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_vectors_without_a_dimension_are_refused() -> None:
    """A table of vectors for a distribution of one number is refused, as in SciPy."""
    with pytest.raises(gt.ShapeError, match=r"x of shape \(4, 3\)"):
        stats.multivariate_normal.logpdf(np.zeros((4, 3)))
