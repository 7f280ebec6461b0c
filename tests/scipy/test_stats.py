"""`gradtape.scipy.stats` but for the distributions of one number: samples, tests, vectors and matrices, estimates."""

from __future__ import annotations

import doctest
import importlib
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.stats
from numpy.lib import NumpyVersion

import gradtape as gt
from gradtape.extend import node_of
from gradtape.scipy import stats

RNG = np.random.default_rng(7)
X = RNG.uniform(0.3, 3.0, 12)
Y = RNG.uniform(0.3, 3.0, 12) + 0.5 * X
M = RNG.uniform(0.3, 3.0, (9, 3))
P = RNG.uniform(0.2, 1.0, 6)
W = RNG.uniform(0.2, 1.0, 12)

CASES: dict[str, Any] = {
    "gmean": [lambda s, a: s.gmean(a), M],
    "gmean weights": [lambda s, a, w: s.gmean(a, weights=w), X, W],
    "hmean": [lambda s, a, w: s.hmean(a, weights=w), X, W],
    "pmean": [lambda s, a, p: s.pmean(a, p, axis=None) if np.ndim(p) == 0 else None, M, np.array(2.5)],
    "trim_mean": [lambda s, a: s.trim_mean(a, 0.2), M],
    "moment": [lambda s, a: s.moment(a, 3, axis=1), M],
    "moments": [lambda s, a: s.moment(a, [2, 4]), M],
    "skew": [lambda s, a: s.skew(a, bias=False), M],
    "kurtosis": [lambda s, a: s.kurtosis(a, bias=False, fisher=False), M],
    "kurtosis flat": [lambda s, a: s.kurtosis(a, axis=None), M],
    "kstat": [lambda s, a: s.kstat(a, 4), X],
    "variation": [lambda s, a: s.variation(a, ddof=1), M],
    "sem": [lambda s, a: s.sem(a, axis=1), M],
    "gstd": [lambda s, a: s.gstd(a), M],
    "zscore": [lambda s, a: s.zscore(a, ddof=1), M],
    "zmap": [lambda s, a, b: s.zmap(a, b), X, Y],
    "gzscore": [lambda s, a: s.gzscore(a), M],
    "iqr": [lambda s, a: s.iqr(a, axis=0, scale="normal"), M],
    "median_abs_deviation": [lambda s, a: s.median_abs_deviation(a, scale="normal"), M],
    "tmean": [lambda s, a: s.tmean(a, (0.5, 2.5)), X],
    "tvar": [lambda s, a: s.tvar(a, (0.5, 2.5)), X],
    "tstd": [lambda s, a: s.tstd(a, (0.5, 2.5), (False, True)), X],
    "tsem": [lambda s, a: s.tsem(a, (0.5, 2.5)), X],
    "tmin": [lambda s, a: s.tmin(a, 0.7), X],
    "tmax": [lambda s, a: s.tmax(a, 2.2), X],
    "entropy": [lambda s, p: s.entropy(p, base=2), P],
    "relative entropy": [lambda s, p, q: s.entropy(p, q), P, P[::-1].copy()],
    "vasicek": [lambda s, a: s.differential_entropy(a, method="vasicek"), X],
    "van es": [lambda s, a: s.differential_entropy(a, method="van es"), M],
    "correa": [lambda s, a: s.differential_entropy(a, method="correa"), X],
    "ebrahimi": [lambda s, a: s.differential_entropy(a), X],
    "wasserstein_distance": [lambda s, a, b: s.wasserstein_distance(a, b), X, Y[:7]],
    "weighted distance": [lambda s, a, b, w: s.wasserstein_distance(a, b, w), X, Y[:7], W],
    "energy_distance": [lambda s, a, b: s.energy_distance(a, b), X, Y[:7]],
    "circmean": [lambda s, a: s.circmean(a, high=4.0), X],
    "circvar": [lambda s, a: s.circvar(a, axis=0), M],
    "circstd": [lambda s, a: s.circstd(a, high=5.0, low=-1.0), X],
    "boxcox": [lambda s, a: s.boxcox(a, 0.3), X],
    "boxcox_llf": [lambda s, p, a: s.boxcox_llf(p, a), np.array(0.4), X],
    "yeojohnson": [lambda s, a: s.yeojohnson(a - 1.5, 0.3), X],
    "yeojohnson_llf": [lambda s, p, a: s.yeojohnson_llf(p, a - 1.5), np.array(0.4), X],
    "describe": [lambda s, a: np.concatenate([np.ravel(v) for v in s.describe(a)[2:]]), M],
    "ttest_1samp": [lambda s, a, m: np.stack(s.ttest_1samp(a, m)), X, np.array(1.2)],
    "ttest_1samp less": [lambda s, a: np.stack(s.ttest_1samp(a, 1.2, alternative="less")), M],
    "ttest interval": [lambda s, a: np.stack(s.ttest_1samp(a, 1.2).confidence_interval(0.9)), X],
    "ttest_rel": [lambda s, a, b: np.stack(s.ttest_rel(a, b, alternative="greater")), X, Y],
    "ttest_ind": [lambda s, a, b: np.stack(s.ttest_ind(a, b)), X, Y[:7]],
    "welch": [lambda s, a, b: np.stack(s.ttest_ind(a, b, equal_var=False)), X, Y[:7]],
    "ttest_ind_from_stats": [
        lambda s, m, d: np.stack(s.ttest_ind_from_stats(m, d, 9, 1.1, 0.4, 7)),
        np.array(0.9),
        np.array(0.5),
    ],
    "pearsonr": [lambda s, a, b: np.stack(s.pearsonr(a, b)), X, Y],
    "linregress": [lambda s, a, b: np.stack(s.linregress(a, b)), X, Y],
    "intercept error": [lambda s, a, b: s.linregress(a, b).intercept_stderr, X, Y],
    "Welch's f_oneway": [lambda s, a, b: np.stack(s.f_oneway(a, b, a[:5] * b[:5], equal_var=False)), X, Y],
    "levene": [lambda s, a, b: np.stack(s.levene(a, b, a[:5] * b[:5])), X, Y],
    "levene of means": [lambda s, a, b: np.stack(s.levene(a, b, center="mean")), X, Y[:7]],
    "obrientransform": [lambda s, a, b: s.obrientransform(a, b), X, Y],
    "pointbiserialr": [lambda s, a: np.stack(s.pointbiserialr(np.arange(12) % 3 == 0, a)), X],
    "false_discovery_control": [lambda s, p: s.false_discovery_control(p / 20, method="by"), P],
    "false_discovery_control of rows": [lambda s, p: s.false_discovery_control(p / 4, axis=1), M],
    "tippett": [lambda s, p: np.stack(s.combine_pvalues(p, "tippett")), P / 2],
    "kstatvar": [lambda s, a: s.kstatvar(a, axis=0), M],
    "directions": [lambda s, a: s.directional_stats(a).mean_direction, M],
    "length of directions": [
        lambda s, a: s.directional_stats(a, axis=1, normalize=False).mean_resultant_length,
        M[None],
    ],
    "scoreatpercentile": [lambda s, a: s.scoreatpercentile(a, [10, 60], limit=(0.5, 2.5)), X],
    "scoreatpercentile below": [lambda s, a: s.scoreatpercentile(a, 37, interpolation_method="lower", axis=0), M],
    "lmoment": [lambda s, a: s.lmoment(a), M],
    "lmoment of some orders": [lambda s, a: s.lmoment(a, [2, 3], axis=1, standardize=False), M],
    "theilslopes": [lambda s, a, b: np.stack(s.theilslopes(a, b)), Y, X],
    "theilslopes joint": [lambda s, a: np.stack(s.theilslopes(a, alpha=0.8, method="joint")), Y],
    "siegelslopes": [lambda s, a, b: np.stack(s.siegelslopes(a, b)), Y, X],
    "siegelslopes separate": [lambda s, a, b: np.stack(s.siegelslopes(a, b, method="separate")), Y, X],
    "probplot": [lambda s, a: np.concatenate([s.probplot(a)[0][1], np.stack(s.probplot(a)[1])]), X],
    "binned means": [lambda s, a: s.binned_statistic(X, a, bins=4).statistic, Y],
    "binned spread": [lambda s, a: s.binned_statistic(X, a[None], "std", [0.0, 1.0, 3.0]).statistic, Y],
    "binned sums": [lambda s, a: s.binned_statistic_2d(X, W, a, "sum", [3, 2]).statistic, Y],
    "binned maxima": [lambda s, a: s.binned_statistic_dd(M[:, :1], a, "max", 2).statistic, X[:9]],
    "f_oneway": [lambda s, a, b: np.stack(s.f_oneway(a, b, a[:5] * b[:5])), X, Y],
    "bartlett": [lambda s, a, b: np.stack(s.bartlett(a, b)), X, Y[:7]],
    "chisquare": [lambda s, a: np.stack(s.chisquare(a)), X],
    "power_divergence": [lambda s, a: np.stack(s.power_divergence(a, lambda_="cressie-read")), X],
    "log-likelihood": [lambda s, a: np.stack(s.power_divergence(a, lambda_="log-likelihood")), X],
    "jarque_bera": [lambda s, a: np.stack(s.jarque_bera(a)), X],
    "skewtest": [lambda s, a: np.stack(s.skewtest(a)), X],
    "kurtosistest": [
        lambda s, a: np.stack(s.kurtosistest(a, alternative="less")),
        np.tile(X, 2) + 0.01 * np.arange(24),
    ],
    "normaltest": [lambda s, a: np.stack(s.normaltest(a)), np.tile(X, 2) + 0.01 * np.arange(24)],
    "fisher": [lambda s, p: np.stack(s.combine_pvalues(p)), P / 2],
    "stouffer": [lambda s, p: np.stack(s.combine_pvalues(p, "stouffer", [1, 2, 3, 1, 2, 3])), P / 2],
    "pearson": [lambda s, p: np.stack(s.combine_pvalues(p, "pearson")), P / 2],
}
"""By name: a function of the module and of arrays, and the arrays."""

S = np.array([[2.0, 0.5, 0.1], [0.5, 1.5, 0.2], [0.1, 0.2, 1.0]])
T = np.array([[1.0, 0.3], [0.3, 0.8]])
V = np.array([0.2, 0.3, 0.5])
POINTS = RNG.normal(size=(4, 3))
MATRICES = np.stack([S, S @ S], axis=-1)
UNIT = np.array([0.6, 0.8, 0.0])


def symmetric(a: Any) -> Any:
    """The symmetric part, so that differences in one element keep a matrix symmetric."""
    return 0.5 * (a + a.T)


def with_the_rest(p: Any) -> Any:
    """Probabilities and the one that they leave, so that differences keep their sum."""
    return np.append(p, 1 - p.sum())


VECTORS: dict[str, Any] = {
    "normal": [lambda s, x, m, c: s.multivariate_normal.logpdf(x, m, symmetric(c)), POINTS, V, S],
    "normal frozen": [lambda s, x, m, c: s.multivariate_normal(m, symmetric(c)).pdf(x), POINTS, V, S],
    "normal of variances": [lambda s, x, c: s.multivariate_normal(np.zeros(3), cov=c).logpdf(x), POINTS, V],
    "normal entropy": [lambda s, c: s.multivariate_normal.entropy(np.zeros(3), symmetric(c)), S],
    "normal draws": [lambda s, m: s.multivariate_normal(m, S).rvs(4, random_state=3), V],
    "t": [lambda s, x, m, c, df: s.multivariate_t.logpdf(x, m, symmetric(c), df), POINTS, V, S, np.array(3.4)],
    "dirichlet": [lambda s, a: s.dirichlet.logpdf(V, a), np.array([1.2, 2.3, 0.7])],
    "dirichlet x": [lambda s, x: s.dirichlet(np.array([1.2, 2.3, 0.7])).pdf(x), np.array([[0.2, 0.3], [0.3, 0.5]])],
    "dirichlet mean": [lambda s, a: np.stack([s.dirichlet.mean(a), s.dirichlet.var(a)]), np.array([1.2, 2.3, 0.7])],
    "dirichlet entropy": [lambda s, a: s.dirichlet(a).entropy(), np.array([1.2, 2.3, 0.7])],
    "wishart": [
        lambda s, x, df, c: s.wishart.logpdf(0.5 * (x + np.swapaxes(x, 0, 1)), df, symmetric(c)),
        MATRICES,
        np.array(5.2),
        S,
    ],
    "wishart mean": [lambda s, df, c: np.stack([s.wishart(df, c).mean(), s.wishart(df, c).var()]), np.array(5.2), S],
    "wishart entropy": [lambda s, df, c: s.wishart.entropy(df, symmetric(c)), np.array(5.2), S],
    "invwishart": [
        lambda s, x, df, c: s.invwishart.logpdf(0.5 * (x + np.swapaxes(x, 0, 1)), df, symmetric(c)),
        MATRICES,
        np.array(5.2),
        S,
    ],
    "invwishart mean": [
        lambda s, df, c: np.stack([s.invwishart.mean(df, c), s.invwishart.var(df, c)]),
        np.array(8.2),
        S,
    ],
    "invwishart entropy": [lambda s, df, c: s.invwishart.entropy(df, symmetric(c)), np.array(5.2), S],
    "multinomial": [lambda s, p: s.multinomial.logpmf([[3, 4, 2], [1, 3, 5]], 9, with_the_rest(p)), V[:2]],
    "multinomial cov": [lambda s, p: s.multinomial(9, with_the_rest(p)).cov(), V[:2]],
    "dirichlet_multinomial": [lambda s, a: s.dirichlet_multinomial.logpmf([3, 4, 2], a, 9), np.array([1.2, 2.3, 0.7])],
    "matrix_normal": [
        lambda s, x, m, r, c: s.matrix_normal.logpdf(x, m, symmetric(r), symmetric(c)),
        RNG.normal(size=(2, 3, 2)),
        RNG.normal(size=(3, 2)),
        S,
        T,
    ],
    "normal_inverse_gamma": [
        lambda s, *values: s.normal_inverse_gamma.logpdf(*values),
        *map(np.array, (0.3, 1.2, 0.1, 1.4, 2.2, 0.8)),
    ],
    "vonmises_fisher": [lambda s, kappa: s.vonmises_fisher(UNIT, kappa).logpdf([[0.0, 0.6, 0.8]]), np.array(2.3)],
    "kde": [lambda s, d, x: s.gaussian_kde(d).evaluate(x), X, Y[:4]],
    "kde log": [
        lambda s, d, x, w: s.gaussian_kde(d, "silverman", w).logpdf(x),
        M.T[:2].copy(),
        M.T[1:, :3].copy(),
        W[:9],
    ],
    "kde box": [lambda s, d, end: s.gaussian_kde(d, 0.4).integrate_box_1d(0.2, end), X, np.array(1.4)],
    "kde bandwidth": [lambda s, b: s.gaussian_kde(X, b).pdf(Y[:3]) if np.ndim(b) == 0 else None, np.array(0.4)],
    "kde and normal": [lambda s, d: s.gaussian_kde(d).integrate_gaussian(0.4, 1.3), X],
    "kde and kde": [lambda s, d: s.gaussian_kde(d).integrate_kde(s.gaussian_kde(Y)), X],
    "kde marginal": [lambda s, d: s.gaussian_kde(d).marginal([1]).pdf([0.3, 0.5]), M.T[:2].copy()],
}


def plain_call(function: Any, *arrays: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(function(scipy.stats, *[x if np.ndim(x) else float(x) for x in arrays]))


ABSENT = {name for name in ("normal_inverse_gamma", "matrix_t") if not hasattr(scipy.stats, name)}
if NumpyVersion(scipy.__version__) < "1.16.0":
    ABSENT.add("Welch's f_oneway")


@pytest.mark.parametrize("name", [name for name in [*CASES, *VECTORS] if name not in ABSENT])
def test_values_and_derivatives(name: str) -> None:
    """Values are SciPy's; both modes agree with central differences of SciPy's function."""
    function, *arrays = {**CASES, **VECTORS}[name]
    value, tangents = None, [RNG.uniform(0.5, 1.0, np.shape(x)) for x in arrays]

    def ours(*values: Any) -> Any:
        return function(stats, *values)

    expected = plain_call(function, *arrays)
    value, slope = gt.jvp(ours, tuple(map(gt.tensor, arrays)), tuple(map(gt.tensor, tangents)))
    np.testing.assert_allclose(value.numpy(), expected, rtol=1e-9, atol=1e-12)
    assert value.shape == expected.shape
    step = 1e-5
    high, low = (plain_call(function, *[x + side * step * t for x, t in zip(arrays, tangents)]) for side in (1, -1))
    if name == "normal draws":  # SciPy's factor of the covariance is another one, and does not move here
        np.testing.assert_allclose(slope.numpy(), np.broadcast_to(tangents[0], slope.shape), rtol=1e-9)
    else:
        np.testing.assert_allclose(slope.numpy(), (high - low) / (2 * step), rtol=2e-5, atol=2e-7)
    weights = RNG.uniform(0.5, 1.0, np.shape(expected))
    gradients = gt.vjp(ours, *map(gt.tensor, arrays))[1](gt.tensor(weights))
    found = sum((g.numpy() * t).sum() for g, t in zip(gradients, tangents))
    assert found == pytest.approx((weights * slope.numpy()).sum(), rel=1e-8)


def test_without_tensors_it_is_scipy() -> None:
    """Functions of arrays are SciPy's own, with its types of results."""
    assert type(stats.ttest_ind(X, Y)) is type(scipy.stats.ttest_ind(X, Y))
    assert type(stats.linregress(X, Y)) is type(scipy.stats.linregress(X, Y))
    np.testing.assert_array_equal(stats.zscore(M), scipy.stats.zscore(M))
    np.testing.assert_array_equal(stats.gaussian_kde(X).evaluate(Y), scipy.stats.gaussian_kde(X).evaluate(Y))
    np.testing.assert_array_equal(
        stats.multivariate_normal(V, S).pdf(POINTS), scipy.stats.multivariate_normal(V, S).pdf(POINTS)
    )
    np.testing.assert_array_equal(
        stats.wishart.rvs(4, T, random_state=1), scipy.stats.wishart.rvs(4, T, random_state=1)
    )
    assert stats.uniform_direction(3).rvs(2, random_state=0).shape == (2, 3)
    assert stats.rankdata([3.0, 1.0]).tolist() == [2.0, 1.0]


def test_reduced_axes_are_kept() -> None:
    """`keepdims` gives SciPy's shapes, along one axis and along all."""
    for name in (
        "gmean",
        "hmean",
        "skew",
        "kurtosis",
        "variation",
        "sem",
        "gstd",
        "iqr",
        "tvar",
        "tmean",
        "tstd",
        "tmin",
    ):
        for axis in (0, 1, None):
            found = getattr(stats, name)(gt.tensor(M), axis=axis, keepdims=True)
            if name == "gstd":  # which has no such argument in SciPy 1.15
                expected = np.expand_dims(scipy.stats.gstd(M, axis=axis), (0, 1) if axis is None else axis)
            else:
                expected = getattr(scipy.stats, name)(M, axis=axis, keepdims=True)
            assert found.shape == expected.shape, name
            np.testing.assert_allclose(found.numpy(), expected)
    for name in ("circmean", "circvar", "circstd"):
        found = getattr(stats, name)(gt.tensor(M), keepdims=True)
        np.testing.assert_allclose(found.numpy(), getattr(scipy.stats, name)(M, keepdims=True))
    assert stats.gmean(gt.tensor(M), dtype=np.float32).dtype == np.float32


def test_draws_in_compiled_functions_are_new_ones() -> None:
    """A compiled function draws again in each call, and the numbers are those of the uncompiled one."""
    drawn = []
    for wrap in (gt.jit, lambda function: function):
        rng = np.random.default_rng(0)
        function = wrap(lambda a, rng=rng: stats.gamma.rvs(a, size=3, random_state=rng))
        drawn.append([np.asarray(function(gt.tensor(2.0)).numpy()) for _ in range(3)])
    np.testing.assert_allclose(drawn[0], drawn[1])
    assert drawn[0][0][0] != drawn[0][1][0]


def test_nested_lists_of_tensors() -> None:
    """Where SciPy takes sequences, they may have tensors in them."""
    slope = gt.grad(lambda a: stats.gmean([a, 4.0, 2 * a]))(gt.tensor(1.0))
    assert float(slope) == pytest.approx(4 / 3)
    cov = gt.grad(lambda a: stats.multivariate_normal.logpdf([1.0, 2.0], [0.0, a], [[1.0, 0.0], [0.0, a]]))
    assert float(cov(gt.tensor(1.0))) == pytest.approx(1.0)


def test_compiled_and_batched() -> None:
    """Under `jit` and `vmap` the gradients are the same."""

    def loss(data: Any, mean: Any) -> Any:
        return stats.multivariate_normal(mean, S).logpdf(data).sum() + stats.kurtosis(stats.zscore(data)).sum()

    expected = gt.grad(loss)(POINTS, V)
    np.testing.assert_allclose(gt.grad(gt.jit(loss))(POINTS, V), expected, rtol=1e-9)
    np.testing.assert_allclose(gt.vmap(gt.grad(loss), (0, None))(np.stack([POINTS, POINTS]), V)[1], expected, rtol=1e-9)


def test_second_derivatives() -> None:
    """The Hessian of a density of vectors by the mean is minus the inverse of the covariance."""
    found = gt.hessian(lambda mean: stats.multivariate_normal(mean, S).logpdf(V))(gt.tensor(np.zeros(3)))
    np.testing.assert_allclose(found.numpy(), -np.linalg.inv(S), rtol=1e-9, atol=1e-12)


def test_many_points_are_one_system() -> None:
    """The density at many points takes no more operations than at one."""

    def operations(points: Any) -> int:
        x = gt.tensor(points, requires_grad=True)
        pending, seen = [node_of(stats.multivariate_normal(V, S).logpdf(x).sum())], set()
        while pending:
            node = pending.pop()
            if node not in seen:
                seen.add(node)
                pending.extend(parent for parent in node.parents if parent is not None)
        return len(seen)

    assert operations(POINTS) == operations(np.tile(POINTS, (50, 1)))


def test_kernel_density_draws() -> None:
    """`resample` of data that are tensors moves with them; without a generator it is refused."""
    data = gt.tensor(X)
    drawn = stats.gaussian_kde(data).resample(5, np.random.default_rng(0))
    assert drawn.shape == (1, 5)
    moved = gt.jvp(
        lambda x: stats.gaussian_kde(x).resample(5, np.random.default_rng(0)), (data,), (gt.tensor(np.ones(12)),)
    )
    np.testing.assert_allclose(moved[1].numpy(), 1.0)
    with pytest.raises(gt.OperandError, match="default_rng"):
        stats.gaussian_kde(data).resample(5)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: stats.kendalltau(x, x)[0], "ranks"),
        (lambda x: stats.spearmanr(x, X).statistic, "ranks"),
        (lambda x: stats.mode(x).mode, "counts"),
        (lambda x: stats.bootstrap((x,), np.mean).standard_error, "draws samples anew"),
        (lambda x: stats.boxcox(x)[0].sum(), "lmbda=None"),
        (lambda x: stats.multivariate_normal.cdf(x[:2], [0.0, 0.0], T), "random numbers"),
        (lambda x: stats.ttest_ind(x, Y, trim=0.1).statistic, "trim=0"),
        (lambda x: stats.combine_pvalues(x / 4, "mudholkar_george").statistic, "stouffer"),
        (lambda x: stats.entropy(x, nan_policy="skip"), "nan_policy"),
    ],
)
def test_refusals_name_the_reason(function: Any, text: str) -> None:
    """What has no derivative, and what is no argument, is refused with the reason or with what is accepted."""
    with pytest.raises((gt.GradTapeError, ValueError), match=text):
        gt.grad(function)(gt.tensor(X))


MASKED: dict[str, Any] = {
    **{name: lambda s, a, n=name: getattr(s.mstats, n)(a, axis=0) for name in ("gmean", "hmean", "skew", "kurtosis")},
    **{name: lambda s, a, n=name: getattr(s.mstats, n)(a) for name in ("sem", "variation", "zscore", "tmean")},
    "tmin": lambda s, a: s.mstats.tmin(a, 0.5),
    "tsem": lambda s, a: s.mstats.tsem(a[:, 0], (0.1, 5.0)),
    "linregress": lambda s, a: np.stack(s.mstats.linregress(a[:, 0], a[:, 1])[:3]),
    "pearsonr": lambda s, a: np.stack(s.mstats.pearsonr(a[:, 0], a[:, 1])),
    "ttest_ind": lambda s, a: np.stack(s.mstats.ttest_ind(a[:, 0], a[:, 1])),
    "ttest_1samp": lambda s, a: np.stack(s.mstats.ttest_1samp(a[:, 0], 1.0)),
    "f_oneway": lambda s, a: np.stack(s.mstats.f_oneway(a[:, 0], a[:, 1], a[:, 2])),
    "theilslopes": lambda s, a: np.stack(s.mstats.theilslopes(a[:, 0], a[:, 1])[:2]),
    "winsorize": lambda s, a: s.mstats.winsorize(a, (0.2, 0.1), axis=0),
    "winsorize flat": lambda s, a: s.mstats.winsorize(a, 0.13, (False, False)),
}


@pytest.mark.parametrize("name", MASKED)
def test_statistics_of_masked_arrays(name: str) -> None:
    """Of tensors, which have no mask, `mstats` has SciPy's values and derivatives; arrays with a mask are SciPy's."""
    expected = np.ma.filled(MASKED[name](scipy.stats, M))
    np.testing.assert_allclose(MASKED[name](stats, gt.tensor(M)).numpy(), expected, rtol=1e-9)
    gt.gradcheck(lambda a: MASKED[name](stats, a), M)
    masked = np.ma.masked_greater(M, 2.5)
    assert np.ma.allequal(stats.mstats.gmean(masked), scipy.stats.mstats.gmean(masked))


@pytest.mark.skipif(not hasattr(scipy.stats, "quantile"), reason="SciPy 1.15 has no such function")
@pytest.mark.parametrize("method", ["linear", "hazen", "weibull", "median_unbiased", "interpolated_inverted_cdf"])
def test_quantiles(method: str) -> None:
    """By the sample and by p, of SciPy's shapes."""
    for x, p, axis, keepdims in (
        (X, np.array(0.3), 0, None),
        (X, np.array([0.3]), 0, None),
        (X, np.array([0.0, 0.11, 0.52, 1.0]), 0, None),
        (M, np.array(0.27), 1, True),
        (M, np.array([[0.23], [0.77]]), 0, None),
        (M, np.array([[0.23, 0.41, 0.77]]), 0, None),
        (M, np.array([0.23, 0.41]), None, None),
        (M, np.array(0.41), None, True),
    ):
        options = {"method": method, "axis": axis, "keepdims": keepdims}
        expected = scipy.stats.quantile(x, p, **options)
        found = stats.quantile(gt.tensor(x), gt.tensor(p), **options)
        assert found.shape == np.shape(expected)
        np.testing.assert_allclose(found.numpy(), expected)
        gt.gradcheck(lambda x, p, o=options: stats.quantile(x, p, **o), x, np.clip(p, 0.01, 0.99))
    assert np.isnan(stats.quantile(gt.tensor(X), 1.5, method=method))
    with pytest.raises(gt.UnsupportedError, match="harrell-davis"):
        stats.quantile(gt.tensor(X), 0.5, method="harrell-davis")


def test_nan_policies() -> None:
    """NaN is propagated, or refused; to leave it out of a tensor is up to the caller."""
    sample = gt.tensor([1.0, np.nan, 3.0])
    assert np.isnan(float(stats.gmean(sample)))
    with pytest.raises(ValueError, match="nan values"):
        stats.gmean(sample, nan_policy="raise")
    with pytest.raises(gt.OperandError, match="isnan"):
        stats.gmean(sample, nan_policy="omit")


def test_ranks_are_constants() -> None:
    """Ranks change in steps: what is weighted by them is differentiated as by numbers."""
    gradient = gt.grad(lambda x: np.sum(stats.rankdata(x) * x))(gt.tensor(X))
    np.testing.assert_array_equal(gradient.numpy(), scipy.stats.rankdata(X))


def test_every_public_name_is_there() -> None:
    """Each public name of `scipy.stats` is differentiated, passed through, or refused with a reason."""
    listed = {name for names in (*stats.REASONS.values(), stats.PIECEWISE_CONSTANT) for name in names.split()}
    differentiated = {*stats.original.functions}
    assert not listed & differentiated
    for name in dir(scipy.stats):
        if name.startswith("_"):
            continue
        assert name in dir(stats)
        found = getattr(stats, name)
        assert found is not None
        if name in differentiated or name in listed:
            continue
        theirs = getattr(scipy.stats, name)
        is_value = not callable(theirs) or isinstance(theirs, type) or name in stats.MULTIVARIATE
        assert is_value or name in UNTOLD, name


UNTOLD = ("test",)
"""SciPy's own tests."""


@pytest.mark.parametrize(
    "module",
    [
        *("", ".univariate", ".multivariate", ".kernel_density", ".samples", ".significance", ".transformations"),
        *(".order_statistics", ".binned", ".mstats"),
    ],
)
def test_examples_run(module: str) -> None:
    """The examples in the docstrings give what they say."""
    loaded = importlib.import_module(f"gradtape.scipy.stats{module}")
    finder = doctest.DocTestFinder(exclude_empty=True)
    for found in [*finder.find(loaded)]:
        if found.examples:
            assert not doctest.DocTestRunner(verbose=False).run(found).failed, found.name
    if not module:
        for name, text in loaded.__test__.items():
            test = doctest.DocTestParser().get_doctest(text, {"gt": gt}, name, None, 0)
            assert not doctest.DocTestRunner(verbose=False).run(test).failed, name


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_the_base_of_an_entropy_has_a_gradient(compiled: bool) -> None:
    """A base that is a tensor; it was taken for a constant."""
    x = np.array([0.2, 0.5, 0.3])
    derivative = gt.grad(lambda base: stats.entropy(x, base=base))
    found = (gt.jit(derivative) if compiled else derivative)(np.array(3.0))
    wanted = (stats.entropy(x, base=3.0 + 1e-6) - stats.entropy(x, base=3.0 - 1e-6)) / 2e-6
    np.testing.assert_allclose(found, wanted, rtol=1e-7)
