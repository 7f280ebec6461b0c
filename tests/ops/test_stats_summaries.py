"""Means, variances, entropies and divergences: against SciPy, against sums and integrals, and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

import gradtape as gt
from gradtape import stats
from gradtape.stats import divergences
from gradtape.stats.summaries import SUMMARIES

from .differentiation import assert_differentiates

SHAPES: dict[str, tuple[float, ...]] = {
    "lognorm": (0.7,),
    "gamma": (1.7,),
    "chi2": (3.0,),
    "invgamma": (3.5,),
    "beta": (1.3, 2.2),
    "t": (3.3,),
    "f": (3.0, 7.0),
    "pareto": (3.5,),
    "weibull_min": (1.6,),
    "bernoulli": (0.3,),
    "binom": (5, 0.3),
    "poisson": (2.0,),
    "nbinom": (3.0, 0.4),
    "geom": (0.3,),
    "betabinom": (5, 1.3, 2.2),
    "betanbinom": (5, 3.3, 2.2),
    "boltzmann": (0.7, 5),
    "dlaplace": (0.7,),
    "logser": (0.6,),
    "planck": (0.7,),
    "skellam": (2.0, 1.3),
    "yulesimon": (3.3,),
    "zipf": (4.3,),
    "zipfian": (1.3, 5),
}


@pytest.mark.parametrize("name", SUMMARIES)
def test_summaries_are_those_of_scipy(name: str) -> None:
    """Mean, variance, standard deviation and entropy agree with SciPy's, at a location and a scale."""
    ours, theirs = getattr(stats, name), getattr(scipy.stats, name)
    place = (2,) if hasattr(ours, "pmf") else (0.5, 1.7)
    given = (*SHAPES.get(name, ()), *place)
    for what in ("mean", "var", "std", "entropy"):
        if what == "entropy" and SUMMARIES[name].entropy is None:
            continue
        np.testing.assert_allclose(getattr(ours, what)(*given), getattr(theirs, what)(*given), rtol=1e-6, err_msg=what)


def test_parameters_that_make_no_distribution_give_nan_and_dtypes_stay() -> None:
    """A negative scale has no mean; means that do not exist are NaN or infinite; float32 stays float32."""
    assert np.isnan(stats.norm.mean(0.0, -1.0))
    assert np.isnan(stats.gamma.entropy(-1.0))
    assert np.isnan(stats.t.mean(0.5))
    assert stats.t.var(1.5) == np.inf
    assert stats.pareto.mean(0.5) == np.inf
    assert stats.norm.entropy(gt.tensor(np.ones(2, np.float32))).dtype == np.float32


def test_a_summary_without_a_formula_says_so() -> None:
    """The entropy of a Poisson distribution is a series: the message says what to do."""
    with pytest.raises(gt.OperandError, match="no formula"):
        stats.poisson.entropy(1.0)


@pytest.mark.parametrize("what", ["mean", "var", "entropy"])
def test_summaries_have_derivatives_in_all_parameters(what: str) -> None:
    """Shapes, location and scale, by finite differences."""
    at = [np.array(value) for value in (1.3, 2.2, 0.5, 1.7)]
    assert_differentiates(lambda a, b, loc, scale: getattr(stats.beta, what)(a, b, loc, scale), *at)
    assert_differentiates(lambda df, scale: getattr(stats.t, what)(df, 0.0, scale), np.array(3.3), np.array(1.7))


def test_vectors_have_summaries() -> None:
    """Entropies of normal and Dirichlet vectors, and means and variances of proportions, as SciPy has them."""
    cov, alpha = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([0.5, 1.5, 2.0])
    theirs = scipy.stats.multivariate_normal(np.zeros(2), cov).entropy()
    np.testing.assert_allclose(stats.multivariate_normal.entropy(np.zeros(2), cov), theirs)
    for what in ("mean", "var", "entropy"):
        ours = getattr(stats.dirichlet, what)(alpha)
        np.testing.assert_allclose(ours, getattr(scipy.stats.dirichlet, what)(alpha), err_msg=what)


CONTINUOUS: dict[str, tuple[Any, Any, tuple[float, ...], tuple[float, ...]]] = {
    "normal": (divergences.normal, stats.norm, (0.0, 1.0), (1.0, 2.0)),
    "laplace": (divergences.laplace, stats.laplace, (0.0, 1.0), (1.0, 2.0)),
    "cauchy": (divergences.cauchy, stats.cauchy, (0.0, 1.0), (1.0, 2.0)),
    "gumbel": (divergences.gumbel, stats.gumbel_r, (0.0, 1.0), (1.0, 2.0)),
    "beta": (divergences.beta, stats.beta, (1.5, 2.0), (2.0, 3.0)),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_divergences_are_means(name: str) -> None:
    """The mean of log(p / q) under p, over evenly spaced quantiles of p."""
    formula, row, p, q = CONTINUOUS[name]
    x = getattr(scipy.stats, row.name).ppf((np.arange(20_000) + 0.5) / 20_000, *p)
    np.testing.assert_allclose(formula(*p, *q), np.mean(row.logpdf(x, *p) - row.logpdf(x, *q)), rtol=2e-3)


def test_divergences_by_other_scales_and_of_counts() -> None:
    """Gamma, exponential, half-normal, Pareto, Poisson, geometric and Bernoulli against draws of the other side."""
    x = np.linspace(1e-6, 60, 20_001)

    def integral(log_p: Any, log_q: Any, points: Any = x) -> float:
        return float(scipy.integrate.simpson(np.exp(log_p) * (log_p - log_q), x=points))

    gamma = integral(stats.gamma.logpdf(x, 2.0, 0, 0.5), stats.gamma.logpdf(x, 3.0, 0, 1.0))
    np.testing.assert_allclose(divergences.gamma(2.0, 2.0, 3.0, 1.0), gamma, rtol=1e-4)
    waiting = integral(stats.expon.logpdf(x, 0, 0.5), stats.expon.logpdf(x, 0, 1.0))
    np.testing.assert_allclose(divergences.exponential(2.0, 1.0), waiting, rtol=1e-4)
    half = integral(stats.halfnorm.logpdf(x, 0, 1.0), stats.halfnorm.logpdf(x, 0, 2.0))
    np.testing.assert_allclose(divergences.half_normal(1.0, 2.0), half, rtol=1e-4)
    k = np.arange(200)
    for formula, row, p, q in (
        (divergences.poisson, stats.poisson, 2.0, 3.0),
        (lambda p, q: divergences.geometric(p, q), stats.geom, 0.3, 0.5),
        (divergences.bernoulli, stats.bernoulli, 0.3, 0.6),
    ):
        log_p, log_q = row.logpmf(k, p), row.logpmf(k, q)
        there = np.isfinite(log_p)
        wanted = (np.exp(log_p[there]) * (log_p[there] - log_q[there])).sum()
        np.testing.assert_allclose(formula(p, q), wanted, rtol=1e-9)
    beyond = np.geomspace(1.0, 3000.0, 20_001)
    tail = integral(stats.pareto.logpdf(beyond, 3.0), stats.pareto.logpdf(beyond, 2.0, 0, 0.5), beyond)
    np.testing.assert_allclose(divergences.pareto(1.0, 3.0, 0.5, 2.0), tail, rtol=1e-3)


def test_what_the_other_cannot_give_is_infinitely_far() -> None:
    """A uniform or Pareto distribution that does not reach, and a category of probability 0."""
    assert divergences.uniform(0.0, 1.0, 0.5, 2.0) == np.inf
    assert divergences.pareto(0.5, 1.0, 1.0, 1.0) == np.inf
    assert divergences.categorical(np.array([0.5, 0.5]), np.array([1.0, 0.0])) == np.inf


def test_a_distribution_is_no_distance_from_itself() -> None:
    """The divergences of vectors are 0 there, and positive elsewhere."""
    alpha, factor = np.array([0.5, 1.5]), np.array([[1.0, 0.0], [0.3, 0.8]])
    np.testing.assert_allclose(divergences.dirichlet(alpha, alpha), 0, atol=1e-12)
    np.testing.assert_allclose(divergences.multivariate_normal(alpha, factor, alpha, factor), 0, atol=1e-12)
    assert divergences.dirichlet(alpha, alpha + 1) > 0
    assert divergences.multivariate_normal(alpha, factor, alpha + 1, factor) > 0
