"""`gt.stats`: values against `scipy.stats`, far tails against closed forms, derivatives in all arguments."""

from __future__ import annotations

import doctest
import warnings
from math import comb, lgamma, log, pi, sqrt
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as gt
from gradtape import stats
from gradtape.stats.family import Continuous, Discrete

from .differentiation import assert_differentiates

SHAPES: dict[str, list[tuple[float, ...]]] = {
    "norm": [()],
    "lognorm": [(0.5,), (3.0,)],
    "halfnorm": [()],
    "truncnorm": [(-1.0, 2.0), (-np.inf, 1.0), (0.5, np.inf), (5.0, 9.0), (-9.0, -5.0), (-np.inf, np.inf)],
    "uniform": [()],
    "expon": [()],
    "cauchy": [()],
    "laplace": [()],
    "logistic": [()],
    "gumbel_r": [()],
    "weibull_min": [(0.5,), (1.0,), (3.0,)],
    "pareto": [(0.5,), (3.0,)],
    "rayleigh": [()],
    "gamma": [(0.01,), (0.5,), (1.0,), (2.5,), (40.0,)],
    "chi2": [(0.1,), (2.0,), (30.0,)],
    "invgamma": [(0.5,), (3.0,), (20.0,)],
    "beta": [(0.1, 0.2), (1.0, 1.0), (1.0, 3.0), (2.0, 5.0), (20.0, 3.0)],
    "f": [(1.0, 1.0), (2.0, 5.0), (30.0, 20.0)],
    "t": [(0.5,), (2.5,), (5.0,), (1000.0,)],
}
COUNTS: dict[str, list[tuple[float, ...]]] = {
    "bernoulli": [(0.3,), (0.0,), (1.0,)],
    "binom": [(5, 0.3), (30, 0.01), (10, 0.0), (10, 1.0), (0, 0.5)],
    "poisson": [(0.1,), (0.0,), (3.0,), (30.0,)],
    "nbinom": [(0.5, 0.3), (10.0, 0.9), (3.0, 1.0)],
    "geom": [(0.2,), (1.0,)],
}
CONTINUOUS = sorted(SHAPES)
DISCRETE = sorted(COUNTS)
SIDES = ["cdf", "sf", "logcdf", "logsf"]
X = np.concatenate([[-30.0, -7.0, -1.5, -0.6, -1e-3, 0.0, 1e-3], np.linspace(0.05, 1, 8), [1.7, 3.2, 6.0, 20.0]])
Q = np.array([0.0, 1e-5, 0.01, 0.3, 0.55, 0.9, 1.0 - 1e-5, 1.0, -0.5, 1.5, np.nan])
PLACES = [(0.0, 1.0), (1.5, 3.0)]

# for the derivatives: inside the support, at some distance from where one formula takes over from another
INNER = {
    "beta": [0.15, 0.4, 0.77],
    "uniform": [0.15, 0.4, 0.77],
    "pareto": [1.3, 2.4, 7.0],
    "truncnorm": [-0.4, 0.3, 0.8],
}
MOVING: dict[str, tuple[float, ...]] = {
    "lognorm": (0.7,),
    "truncnorm": (-0.9, 1.4),
    "weibull_min": (1.7,),
    "pareto": (2.2,),
    "gamma": (2.3,),
    "chi2": (3.4,),
    "invgamma": (2.1,),
    "beta": (1.7, 2.6),
    "f": (3.3, 5.2),
    "t": (3.5,),
}


def of(name: str) -> Any:
    return getattr(stats, name)


def reference(name: str, method: str, *args: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(getattr(scipy.stats, name), method)(*args)


def slope(function: Any, x: Any) -> Any:
    """The derivative of a function of one number, at several."""
    x = np.asarray(x, float)
    return gt.vjp(function, x)[1](np.ones(x.shape))[0]


# -- values


@pytest.mark.parametrize("method", ["logpdf", "pdf", *SIDES])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_values_are_scipys(name: str, method: str) -> None:
    """Densities and probabilities are SciPy's, inside the support, at its ends and outside, with loc and scale."""
    for shapes in SHAPES[name]:
        for loc, scale in PLACES:
            x = X * scale + loc
            found = getattr(of(name), method)(gt.tensor(x), *shapes, loc, scale)
            assert isinstance(found, gt.Tensor)
            assert (found.shape, found.dtype) == (x.shape, np.dtype(float))
            expected = reference(name, method, x, *shapes, loc, scale)
            known = np.isfinite(expected) | np.isin(X, [-30.0, 0.0])  # SciPy's logarithms end where numbers do
            np.testing.assert_allclose(found.numpy()[known], expected[known], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("method", ["ppf", "isf"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_quantiles_are_scipys(name: str, method: str) -> None:
    """Quantiles are SciPy's, at 0 and 1 the ends of the support, and NaN for what is no probability."""
    for shapes in SHAPES[name]:
        for loc, scale in PLACES:
            found = getattr(of(name), method)(gt.tensor(Q), *shapes, loc, scale).numpy()
            expected = reference(name, method, Q, *shapes, loc, scale)
            np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("method", ["logpmf", "pmf", *SIDES])
@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_values_are_scipys(name: str, method: str) -> None:
    """Masses and probabilities are SciPy's, between integers and outside of the support too, with loc."""
    k = np.array([-2, -1, 0, 0.5, 1, 2, 3, 4, 5, 6, 9, 10, 11, 40])
    for parameters in COUNTS[name]:
        for loc in (0, 3):
            found = getattr(of(name), method)(gt.tensor(k + loc), *parameters, loc).numpy()
            expected = reference(name, method, k + loc, *parameters, loc)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-13)


positive = st.floats(0.05, 50.0)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(CONTINUOUS), st.data(), st.floats(1e-6, 1 - 1e-6), st.floats(-5, 5), positive)
def test_quantiles_invert_probabilities(name: str, data: Any, q: float, loc: float, scale: float) -> None:
    """cdf(ppf(q)) = q and sf(isf(q)) = q for any parameters, as far as the numbers between them tell."""
    shapes = [data.draw(positive) for _ in of(name).shapes]
    if name == "truncnorm":
        shapes = [-shapes[0] / 10, shapes[1] / 10]
    for there, back in (("ppf", "cdf"), ("isf", "sf")):
        x = getattr(of(name), there)(q, *shapes, loc, scale)
        step = 4 * np.spacing(abs(x) + abs(loc))
        around = [getattr(of(name), back)(end, *shapes, loc, scale) for end in (x - step, x + step)]
        low, high = sorted(float(p) for p in around)
        assert low - 1e-7 * q - 1e-12 <= q <= high + 1e-7 * q + 1e-12


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(CONTINUOUS), st.data(), st.floats(-3, 8), st.floats(-2, 2), positive)
def test_values_are_scipys_for_any_parameters(name: str, data: Any, z: float, loc: float, scale: float) -> None:
    """logpdf, cdf and sf are SciPy's for shapes from 0.05 to 50; sf near 1 is what its cdf leaves.

    The sf of `f` near 0 is 1 in SciPy 1.15, where its cdf is 2e-7.
    """
    shapes = [data.draw(positive) for _ in of(name).shapes]
    if name == "truncnorm":
        shapes = [-shapes[0] / 10, shapes[1] / 10]
    x = z * scale + loc
    for method in ("logpdf", "cdf", "sf"):
        found = getattr(of(name), method)(x, *shapes, loc, scale)
        expected = reference(name, method, x, *shapes, loc, scale)
        if method == "sf" and expected > 0.5:
            expected = 1 - reference(name, "cdf", x, *shapes, loc, scale)
        if np.isfinite(expected):
            np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-10)


# -- far tails: in closed form


def log_poisson_sum(x: float, terms: range) -> float:
    """log(sum of x^k exp(-x) / k!)"""
    return float(np.logaddexp.reduce([k * log(x) - x - lgamma(k + 1) for k in terms]))


@pytest.mark.parametrize("x", [800.0, 5e3, 1e6])
def test_gamma_upper_tail(x: float) -> None:
    """Far out, the logarithm of the survival function of an integer shape is its finite sum, where SciPy has -inf."""
    for a in (1, 2, 5, 12):
        expected = log_poisson_sum(x, range(a))
        assert float(stats.gamma.logsf(x, float(a))) == pytest.approx(expected, rel=1e-13)
        assert float(stats.chi2.logsf(2 * x, 2.0 * a)) == pytest.approx(expected, rel=1e-13)
        assert float(stats.invgamma.logcdf(1 / x, float(a))) == pytest.approx(expected, rel=1e-13)
        assert float(stats.poisson.logcdf(a - 1, x)) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("x", [1e-300, 1e-12, 1e-3, 1.0])
def test_gamma_lower_tail(x: float) -> None:
    """Far in, the logarithm of the distribution function is its series, for shapes below 1 too."""
    for a in (150.0, 400.0, 0.9 if x < 1e-200 else 250.5):
        terms = [(a + k) * log(x) - x - lgamma(a + k + 1) for k in range(60)]
        expected = float(np.logaddexp.reduce(terms))
        assert float(stats.gamma.logcdf(x, a)) == pytest.approx(expected, rel=1e-12)


def log_binomial_sum(n: int, p: float, terms: range) -> float:
    return float(np.logaddexp.reduce([log(comb(n, k)) + k * log(p) + (n - k) * log(1 - p) for k in terms]))


@pytest.mark.parametrize(("n", "k", "p"), [(500, 450, 0.01), (2000, 1500, 0.1), (900, 899, 0.2)])
def test_binomial_upper_tail(n: int, k: int, p: float) -> None:
    """The logarithm of the survival function of a binomial and of a beta distribution is the sum over its tail."""
    expected = log_binomial_sum(n, p, range(k + 1, n + 1))
    assert expected < -745
    assert float(stats.binom.logsf(k, n, p)) == pytest.approx(expected, rel=1e-11)
    assert float(stats.beta.logcdf(p, k + 1.0, n - k + 0.0)) == pytest.approx(expected, rel=1e-11)
    assert float(stats.binom.logcdf(n - k - 1, n, 1 - p)) == pytest.approx(expected, rel=1e-11)


def test_student_tail_is_closed_for_two_degrees_of_freedom() -> None:
    """(1 - t / sqrt(2 + t^2)) / 2 and its logarithm, from the middle to the end of the numbers."""
    t = -np.logspace(-9, 150, 40)
    root = np.sqrt(2 + t * t)
    expected = 1 / ((2 + t * t) * (1 - t / root))
    np.testing.assert_allclose(stats.t.cdf(t, 2.0), expected, rtol=1e-12)
    np.testing.assert_allclose(stats.t.logcdf(t, 2.0), np.log(expected), rtol=1e-12)
    np.testing.assert_allclose(stats.t.logsf(-t, 2.0), np.log(expected), rtol=1e-12)
    np.testing.assert_allclose(stats.t.logcdf(-t, 2.0), np.log1p(-expected), rtol=1e-12)


def test_student_tail_is_cauchys_for_one_degree_of_freedom() -> None:
    """With one degree of freedom Student's distribution is Cauchy's, in both tails."""
    x = np.concatenate([-np.logspace(-8, 100, 20), np.logspace(-8, 100, 20)])
    for method in ("logpdf", *SIDES):
        ours, other = getattr(stats.t, method)(x, 1.0), getattr(stats.cauchy, method)(x)
        np.testing.assert_allclose(ours, other, rtol=1e-11)


def test_normal_student_for_many_degrees_of_freedom() -> None:
    """For 1e12 degrees of freedom Student's tails are those of the normal distribution, far out as well."""
    x = np.array([-60.0, -8.0, -0.5, 0.5, 8.0])
    for method in ("logpdf", "logcdf", "logsf"):
        np.testing.assert_allclose(getattr(stats.t, method)(x, 1e12), getattr(stats.norm, method)(x), rtol=1e-5)


TAILS = {
    "norm": ((), -1e3, -1e3),
    "lognorm": ((0.5,), 1e-300, 1e-300),
    "logistic": ((), -1e4, -1e4),
    "laplace": ((), -1e5, -1e5),
    "gamma": ((30.0,), 1e-30, 1e-30),
    "beta": ((30.0, 2.0), 1e-30, 1e-30),
    "t": ((50.0,), -1e20, -1e20),
    "f": ((40.0, 5.0), 1e-30, 1e-30),
    "truncnorm": ((-200.0, 200.0), -150.0, -150.0),
}


@pytest.mark.parametrize("name", sorted(TAILS))
def test_far_tails_have_a_slope(name: str) -> None:
    """Where the probability is too small for a number, its logarithm is finite and its slope is density / probability.

    That quotient is the one of the logarithms, and the next slope follows from it: h' = h ((log density)' - h).
    """
    shapes, x, _ = TAILS[name]
    distribution = of(name)
    value = float(distribution.logcdf(x, *shapes))
    assert np.isfinite(value)
    assert value < -700
    found = float(slope(lambda x: distribution.logcdf(x, *shapes), x))
    assert found == pytest.approx(float(np.exp(distribution.logpdf(x, *shapes) - value)), rel=1e-9)
    for argument in range(len(shapes)):

        def moved(shape: Any, argument: int = argument) -> Any:
            return distribution.logcdf(x, *shapes[:argument], shape, *shapes[argument + 1 :])

        step = 1e-5 * abs(shapes[argument])
        numeric = (float(moved(shapes[argument] + step)) - float(moved(shapes[argument] - step))) / (2 * step)
        assert float(slope(moved, shapes[argument])) == pytest.approx(numeric, rel=1e-5, abs=1e-6)


def test_large_shapes_lose_no_digits() -> None:
    """At the mode of a gamma, beta, Poisson or binomial distribution of 1e9, the density is Stirling's."""
    n = 1e9
    height = -0.5 * log(2 * pi * n)
    assert float(stats.gamma.logpdf(n, n + 1)) == pytest.approx(height - 1 / (12 * n), rel=1e-14)
    assert float(stats.poisson.logpmf(n, n)) == pytest.approx(height - 1 / (12 * n), rel=1e-14)
    assert float(stats.binom.logpmf(n / 2, n, 0.5)) == pytest.approx(0.5 * log(2 / (pi * n)) - 0.25 / n, rel=1e-14)
    assert float(stats.beta.logpdf(0.5, n, n)) == pytest.approx(0.5 * log(4 * n / pi) - 0.125 / n, rel=1e-13)


# -- derivatives


@pytest.mark.parametrize("method", ["logpdf", "pdf", *SIDES])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_differentiates_in_every_argument(name: str, method: str) -> None:
    """x, the shapes, loc and scale: both modes, finite differences, second order and vmap, with broadcasting."""
    shapes = [np.array(shape) for shape in MOVING.get(name, ())]
    loc, scale = np.array(0.3), np.array([[1.2], [1.1]])
    x = np.array(INNER.get(name, [0.3, 0.8, 2.7] if name != "t" else [-1.7, 0.3, 2.7])) * 1.15 + 0.3
    assert_differentiates(getattr(of(name), method), x, *shapes, loc, scale, tolerance=2e-6)


@pytest.mark.parametrize("method", ["ppf", "isf"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_quantiles_differentiate(name: str, method: str) -> None:
    """A quantile has a derivative in the probability, the shapes, loc and scale."""
    shapes = [np.array(shape) for shape in MOVING.get(name, ())]
    assert_differentiates(
        getattr(of(name), method), np.array([0.2, 0.6]), *shapes, np.array(0.3), np.array([1.2]), tolerance=5e-6
    )


@pytest.mark.parametrize("method", ["logpmf", "pmf", *SIDES])
@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_parameters_differentiate(name: str, method: str) -> None:
    """The probability, the rate and the real-valued number of successes have derivatives, to second order."""
    k = np.array([1, 2, 4])
    if name == "poisson":
        assert_differentiates(lambda mu: getattr(stats.poisson, method)(k, mu), np.array([[0.7], [3.1]]))
    elif name == "nbinom":
        assert_differentiates(
            lambda n, p: getattr(stats.nbinom, method)(k, n, p), np.array([[0.7], [3.1]]), np.array(0.4)
        )
    elif name == "binom":
        assert_differentiates(lambda p: getattr(stats.binom, method)(k, 6, p), np.array([[0.2], [0.7]]))
    else:
        k = np.array([0] if method in SIDES else [0, 1]) if name == "bernoulli" else k
        assert_differentiates(lambda p: getattr(of(name), method)(k, p), np.array([[0.2], [0.7]]))


def test_student_is_smooth_at_zero() -> None:
    """At 0 the distribution function has the slope and the mixed derivative of the density, and no NaN."""
    at = np.zeros(())
    assert float(slope(lambda t: stats.t.cdf(t, 3.0), at)) == pytest.approx(float(stats.t.pdf(0.0, 3.0)))
    mixed = gt.grad(gt.grad(stats.t.cdf, 0), 1)(at, np.array(3.0))
    assert float(mixed) == pytest.approx(float(gt.grad(lambda df: stats.t.pdf(0.0, df))(np.array(3.0))))
    quantile = gt.grad(stats.t.ppf)(np.array(0.5), np.array(3.0))
    assert float(quantile) == pytest.approx(1 / float(stats.t.pdf(0.0, 3.0)))


@pytest.mark.parametrize("name", CONTINUOUS)
def test_outside_of_the_support_nothing_moves(name: str) -> None:
    """Outside: -inf, 0 or 1, and gradients that are 0 and not NaN, in every argument."""
    shapes = [np.array(shape) for shape in MOVING.get(name, ())]
    support = of(name)._support(*shapes)
    outside = [end + side for end, side in zip(support, (-3.0, 3.0), strict=True) if np.isfinite(end)]
    for z in [*outside, np.inf, -np.inf]:
        for method in ("logpdf", "pdf", *SIDES):
            value, gradients = gt.value_and_grad(getattr(of(name), method), tuple(range(3 + len(shapes))))(
                np.array(z), *shapes, np.array(0.0), np.array(1.0)
            )
            assert value in (0.0, 1.0, -np.inf)
            assert [float(g) for g in gradients] == [0.0] * len(gradients)


@pytest.mark.parametrize(
    ("name", "shapes", "x"),
    [
        ("gamma", (2.5,), 0.0),
        ("gamma", (0.5,), 0.0),
        ("beta", (3.0, 0.5), 0.0),
        ("beta", (3.0, 0.5), 1.0),
        ("weibull_min", (2.0,), 0.0),
        ("f", (5.0, 3.0), 0.0),
        ("chi2", (1.0,), 0.0),
    ],
)
def test_an_end_without_a_slope_does_not_move(name: str, shapes: tuple[float, ...], x: float) -> None:
    """At an end where the density is 0 or infinite its value is SciPy's, and gradients are 0 and not NaN."""
    point = [np.array(value) for value in (x, *shapes, 0.0, 1.0)]
    value, gradients = gt.value_and_grad(of(name).logpdf, tuple(range(len(point))))(*point)
    assert value == reference(name, "logpdf", x, *shapes)
    assert np.isinf(value)
    assert [float(g) for g in gradients] == [0.0] * len(gradients)
    mapped = gt.vmap(gt.grad(of(name).logpdf))(*(np.stack([p, p]) for p in point))
    assert mapped.tolist() == [0.0, 0.0]


def test_an_end_with_a_slope_has_it() -> None:
    """At an end where the density is finite it has the slope from inside."""
    assert gt.grad(stats.expon.logpdf)(np.array(0.0)) == -1.0
    assert gt.grad(stats.pareto.logpdf)(np.array(1.0), 2.0) == -3.0
    assert gt.grad(stats.gamma.logpdf)(np.array(0.0), 1.0) == -1.0
    assert gt.grad(stats.beta.logpdf)(np.array(1.0), 3.0, 1.0) == 2.0


def test_a_mixture_of_inside_and_outside() -> None:
    """Points outside of the support do not disturb the gradients that those inside send to shared parameters."""
    x = np.array([-1.0, 0.5, 2.0])
    whole = gt.grad(lambda a: np.where(x > 0, stats.gamma.logpdf(x, a), 0).sum())(np.array(2.0))
    inside = gt.grad(lambda a: stats.gamma.logpdf(x[1:], a).sum())(np.array(2.0))
    assert whole == pytest.approx(inside)


# -- dtypes, arguments, draws


@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE])
def test_single_precision_stays(name: str) -> None:
    """float32 arguments give float32 results and gradients; Python numbers and counts widen nothing."""
    distribution = of(name)
    if isinstance(distribution, Continuous):
        methods, x = ["logpdf", "pdf", *SIDES, "ppf", "isf"], gt.tensor(np.array([0.25, 0.75], "float32"))
        parameters: Any = MOVING.get(name, ())
    else:
        methods, x = ["logpmf", "pmf", *SIDES], np.array([0, 1])
        parameters = [*COUNTS[name][0][:-1], np.array(0.25, "float32")]
    for method in methods:
        assert getattr(distribution, method)(x, *parameters).dtype == np.float32
    moving = np.array(0.25, "float32")
    if isinstance(distribution, Continuous):
        gradient = gt.grad(lambda x: distribution.logpdf(x, *parameters))(moving)
    else:
        gradient = gt.grad(lambda p: distribution.logpmf(1, *parameters[:-1], p))(moving)
    assert gradient.dtype == np.float32


def test_single_precision_tails() -> None:
    """In single precision the far tails begin earlier, and are as exact."""
    x = np.array([20.0, 60.0, 200.0], "float32")
    for distribution, shapes in ((stats.gamma, (2.0,)), (stats.f, (3.0, 100.0)), (stats.norm, ())):
        exact = distribution.logsf(x.astype(float), *shapes)
        np.testing.assert_allclose(distribution.logsf(x, *shapes), exact, rtol=1e-5)


def test_half_precision_stays() -> None:
    """float16 arguments give float16 results."""
    x = np.array([0.25, 0.75], "float16")
    for distribution, shapes in ((stats.norm, ()), (stats.gamma, (2.0,)), (stats.beta, (2.0, 3.0)), (stats.t, (3.0,))):
        for method in ("logpdf", *SIDES):
            found = getattr(distribution, method)(x, *shapes)
            assert found.dtype == np.float16
            np.testing.assert_allclose(found, getattr(distribution, method)(x.astype(float), *shapes), rtol=5e-3)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan])
def test_no_distribution_is_not_a_number(scale: float) -> None:
    """A scale or a shape that no distribution has gives NaN, as in SciPy, for that element only."""
    assert np.isnan(stats.norm.logpdf(0.0, 0.0, scale))
    found = stats.gamma.cdf([1.0, 1.0], [2.0, scale])
    assert np.isnan(found).tolist() == [False, True]
    assert np.isnan(stats.binom.logpmf(1, [2, 2.5], 0.5)).tolist() == [False, True]
    assert np.isnan(stats.truncnorm.cdf(0.0, 1.0, -1.0))
    assert np.isnan(stats.poisson.pmf(1, -2.0))


def test_arguments_by_name_and_in_order() -> None:
    """Shapes, loc and scale can be given in SciPy's order or by SciPy's names."""
    assert stats.gamma.logpdf(3.0, 2.0, 1.0, 4.0) == stats.gamma.logpdf(3.0, scale=4.0, loc=1.0, a=2.0)
    assert stats.binom.pmf(2, 5, 0.5, 1) == stats.binom.pmf(2, p=0.5, n=5, loc=1)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: stats.gamma.logpdf(1.0), "a missing"),
        (lambda: stats.norm.cdf(1.0, 0.0, 1.0, 2.0), "3 parameters"),
        (lambda: stats.norm.cdf(1.0, sigma=2.0), "no parameter sigma"),
        (lambda: stats.beta.ppf(0.5, 1.0, 2.0, a=3.0), "a given twice"),
        (lambda: stats.poisson.pmf(1, 2.0, scale=3.0), "no parameter scale"),
        (lambda: stats.norm.logpdf(1j), "complex128"),
        (lambda: stats.norm.rvs(0.0, 1.0, size=3), "random_state is None"),
        (lambda: stats.norm.rvs(0.0, 1.0, size=3, random_state=0), "random_state is a int"),
    ],
)
def test_wrong_arguments_are_refused(call: Any, problem: str) -> None:
    """Too many, missing or unknown arguments are refused with what is accepted."""
    with pytest.raises(gt.OperandError, match=problem) as caught:
        call()
    assert "fix: " in str(caught.value)


@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE])
def test_rvs_are_draws_of_the_distribution(name: str) -> None:
    """The draws have the shape asked for, and are uniform when the distribution function is taken of them."""
    distribution = of(name)
    parameters = MOVING.get(name, ()) if isinstance(distribution, Continuous) else COUNTS[name][0]
    drawn = distribution.rvs(*parameters, loc=2.0, size=(400, 10), random_state=np.random.default_rng(5))
    assert drawn.shape == (400, 10)
    upper, lower = (distribution.cdf(drawn - d, *parameters, loc=2.0) for d in (0, isinstance(distribution, Discrete)))
    share = np.sort((lower + (upper - lower) * np.random.default_rng(6).random(drawn.shape)).ravel())
    if isinstance(distribution, Continuous):
        share = np.sort(upper.ravel())
    assert np.abs(share - np.linspace(0, 1, share.size)).max() < 1.95 / sqrt(share.size)


def test_rvs_differentiate() -> None:
    """Draws move with the parameters; in loc by 1, in scale by the standardised draw."""

    def draw(a: Any, loc: Any, scale: Any) -> Any:
        return stats.gamma.rvs(a, loc, scale, size=4, random_state=np.random.default_rng(1))

    a, loc, scale = np.array(1.5), np.array(0.5), np.array(2.0)
    drawn = draw(a, loc, scale)
    assert gt.jvp(lambda x: draw(a, x, scale), (loc,), (np.ones(()),))[1].tolist() == [1.0] * 4
    tangent = gt.jvp(lambda x: draw(a, loc, x), (scale,), (np.ones(()),))[1]
    np.testing.assert_allclose(tangent, (drawn - loc) / scale)


# -- vectors

MATRIX = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 0.7]])


def symmetric(matrix: Any) -> Any:
    return (matrix + np.swapaxes(matrix, -1, -2)) / 2


def test_multivariate_normal() -> None:
    """The density of vectors is SciPy's, for a matrix, variances or one variance, and differentiates in all."""
    x, mean = np.random.default_rng(2).normal(size=(4, 3)), np.array([0.1, -0.2, 0.3])
    for cov in (MATRIX, np.array([1.0, 2.0, 3.0]), 1.5):
        found = stats.multivariate_normal.logpdf(gt.tensor(x), mean, cov)
        expected = scipy.stats.multivariate_normal.logpdf(x, mean, cov)
        assert found.shape == (4,)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)
        np.testing.assert_allclose(stats.multivariate_normal.pdf(x, mean, cov), np.exp(expected), rtol=1e-12)
    assert float(stats.multivariate_normal.logpdf(0.5)) == pytest.approx(scipy.stats.norm.logpdf(0.5))
    assert_differentiates(
        lambda x, mean, cov: stats.multivariate_normal.logpdf(x, mean, symmetric(cov)), x[:2], mean, MATRIX
    )
    single = stats.multivariate_normal.logpdf(x.astype("float32"), mean.astype("float32"), MATRIX.astype("float32"))
    assert single.dtype == np.float32


def test_multivariate_normal_refuses_what_is_none() -> None:
    """Shapes that do not fit and matrices that are not positive definite are refused with what is accepted."""
    with pytest.raises(gt.ShapeError, match=r"x of shape \(2,\), mean \(3,\), cov \(3, 3\)"):
        stats.multivariate_normal.logpdf(np.zeros(2), np.zeros(3), MATRIX)
    with pytest.raises(gt.LinearAlgebraError, match="not positive definite"):
        stats.multivariate_normal.logpdf(np.zeros(2), np.zeros(2), -np.eye(2))


def test_dirichlet() -> None:
    """The density of proportions is SciPy's, with the components along the last axis, and differentiates in both."""
    x, alpha = np.array([[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]]), np.array([0.7, 2.0, 3.5])
    found = stats.dirichlet.logpdf(gt.tensor(x), alpha)
    np.testing.assert_allclose(found.numpy(), [scipy.stats.dirichlet.logpdf(row, alpha) for row in x], rtol=1e-12)
    np.testing.assert_allclose(stats.dirichlet.pdf(x, alpha), np.exp(found.numpy()), rtol=1e-12)
    assert_differentiates(stats.dirichlet.logpdf, x, alpha)
    outside = np.array([1.2, -0.1, -0.1])
    assert stats.dirichlet.logpdf(outside, alpha) == -np.inf
    assert gt.grad(stats.dirichlet.logpdf)(outside, alpha).tolist() == [0.0] * 3
    assert np.isnan(stats.dirichlet.logpdf(x[0], [1.0, -1.0, 1.0]))
    assert stats.dirichlet.logpdf(x.astype("float32"), alpha.astype("float32")).dtype == np.float32
    with pytest.raises(gt.ShapeError, match=r"x of shape \(2, 3\) and alpha of shape \(2,\)"):
        stats.dirichlet.logpdf(x, alpha[:2])


def test_vectors_are_drawn() -> None:
    """rvs of vectors are those of `gt.random`."""
    rng, again = np.random.default_rng(3), np.random.default_rng(3)
    assert np.array_equal(
        stats.multivariate_normal.rvs(np.zeros(3), MATRIX, 2, rng),
        gt.random.multivariate_normal(again, np.zeros(3), MATRIX, 2),
    )
    assert np.array_equal(stats.dirichlet.rvs([1.0, 2.0], 5, rng), gt.random.dirichlet(again, [1.0, 2.0], 5))


# -- SciPy's own, and documentation


@pytest.mark.parametrize("shape", [(), (3,)])
def test_scipys_own_functions_refuse_tracked_tensors(shape: tuple[int, ...]) -> None:
    """`scipy.stats` turns its arguments into arrays: a tracked tensor is refused, never detached in silence."""
    x = gt.tensor(np.ones(shape), requires_grad=True)
    for call in (lambda: scipy.stats.norm.logpdf(x), lambda: scipy.stats.gamma.cdf(1.0, x)):
        with pytest.raises(gt.DetachError):
            call()
    assert isinstance(scipy.stats.norm.logpdf(gt.tensor(np.ones(shape))), float | np.ndarray)


@pytest.mark.parametrize("name", stats.__all__)
def test_examples_run(name: str) -> None:
    """Every distribution explains itself with an example, and its methods have docstrings."""
    test = doctest.DocTestParser().get_doctest(of(name).__doc__ or "", {}, name, None, None)
    assert len(test.examples) >= 2
    report: list[str] = []
    assert doctest.DocTestRunner(verbose=False).run(test, out=report.append).failed == 0, "".join(report)
    assert all(
        getattr(of(name), method).__doc__
        for method in dir(of(name))
        if not method.startswith("_") and callable(getattr(of(name), method))
    )
