"""The distributions of `gradtape.scipy.stats`: values are SciPy's, derivatives those of finite differences."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.stats

import gradtape as gt
from gradtape.scipy import stats
from gradtape.scipy.stats.univariate import CONSTANT_DENSITIES
from gradtape.stats.family import Continuous

SHAPES: dict[str, list[tuple[float, ...]]] = {
    "alpha": [(3.57,)],
    "anglit": [()],
    "arcsine": [()],
    "argus": [(1.3,), (0.3,)],
    "beta": [(1.7, 2.6)],
    "betaprime": [(5.0, 6.0), (0.7, 2.5)],
    "bradford": [(0.3,), (5.0,)],
    "burr": [(10.5, 4.3), (2.5, 0.8)],
    "burr12": [(1.7, 2.6), (10.0, 4.0)],
    "cauchy": [()],
    "chi": [(3.4,), (1.0,)],
    "chi2": [(3.4,)],
    "cosine": [()],
    "crystalball": [(2.0, 3.0), (0.7, 1.8)],
    "dgamma": [(2.6,), (1.1,)],
    "dpareto_lognorm": [(0.3, 0.8, 2.5, 2.0)],
    "dweibull": [(2.07,), (0.8,)],
    "erlang": [(4.0,)],
    "expon": [()],
    "exponnorm": [(1.5,), (0.3,)],
    "exponpow": [(2.7,), (0.8,)],
    "exponweib": [(2.9, 1.95), (0.7, 1.2)],
    "f": [(3.3, 9.2)],
    "fatiguelife": [(2.9,), (0.4,)],
    "fisk": [(3.09,)],
    "foldcauchy": [(4.72,), (0.3,)],
    "foldnorm": [(1.95,), (0.1,)],
    "gamma": [(2.3,)],
    "genexpon": [(0.5, 0.7, 1.1)],
    "genextreme": [(-0.1,), (0.3,), (0.0,)],
    "gengamma": [(4.4, 3.1), (2.2, -1.3), (0.6, 1.2)],
    "genhalflogistic": [(0.77,)],
    "genhyperbolic": [(0.5, 1.5, -0.5)],
    "geninvgauss": [(2.3, 1.5)],
    "genlogistic": [(0.41,), (3.0,)],
    "gennorm": [(1.3,), (3.0,)],
    "genpareto": [(0.1,), (-0.2,), (0.0,)],
    "gibrat": [()],
    "gompertz": [(0.95,)],
    "gumbel_l": [()],
    "gumbel_r": [()],
    "halfcauchy": [()],
    "halfgennorm": [(0.7,), (2.5,)],
    "halflogistic": [()],
    "halfnorm": [()],
    "hypsecant": [()],
    "invgamma": [(4.1,)],
    "invgauss": [(1.3,), (0.15,)],
    "invweibull": [(10.6,), (2.5,)],
    "jf_skew_t": [(8.0, 4.0), (1.5, 2.5)],
    "johnsonsb": [(0.3, 0.9), (4.3, 3.2)],
    "johnsonsu": [(2.55, 2.25)],
    "kappa3": [(2.5,), (1.0,)],
    "kappa4": [(0.1, 0.2), (-0.3, 0.2)],
    "kstwobign": [()],
    "laplace": [()],
    "laplace_asymmetric": [(0.6,), (2.0,)],
    "levy": [()],
    "levy_l": [()],
    "loggamma": [(0.41,), (3.0,)],
    "logistic": [()],
    "loglaplace": [(3.25,)],
    "lognorm": [(0.7,)],
    "loguniform": [(0.1, 1.5)],
    "lomax": [(4.3,)],
    "maxwell": [()],
    "mielke": [(2.0, 3.0), (10.4, 4.6)],
    "moyal": [()],
    "nakagami": [(4.97,), (0.7,)],
    "nct": [(4.0, 1.1)],
    "ncx2": [(3.0, 2.0)],
    "norm": [()],
    "norminvgauss": [(1.3, 0.5)],
    "pareto": [(2.2,)],
    "pearson3": [(0.1,), (-2.0,), (1.3,), (0.0,)],
    "powerlaw": [(1.66,)],
    "powerlognorm": [(2.14, 0.45)],
    "powernorm": [(4.45,)],
    "rayleigh": [()],
    "rdist": [(1.6,), (4.0,)],
    "recipinvgauss": [(0.63,)],
    "reciprocal": [(0.1, 1.5)],
    "rice": [(0.78,), (2.0,)],
    "semicircular": [()],
    "skewcauchy": [(0.5,)],
    "skewnorm": [(4.0,), (-1.2,)],
    "t": [(3.5,)],
    "trapezoid": [(0.2, 0.8)],
    "triang": [(0.16,)],
    "truncexpon": [(4.7,)],
    "truncnorm": [(-0.9, 1.4)],
    "truncpareto": [(2.0, 5.0)],
    "truncweibull_min": [(2.5, 0.25, 1.75)],
    "tukeylambda": [(0.2,), (3.1,), (-0.3,)],
    "uniform": [()],
    "vonmises": [(4.0,), (0.5,)],
    "vonmises_line": [(4.0,)],
    "wald": [()],
    "weibull_max": [(2.9,), (0.8,)],
    "weibull_min": [(1.7,)],
    "wrapcauchy": [(0.3,)],
}
"""The continuous distributions with shapes for the tests; the first ones are those for the derivatives."""

DENSITY_ONLY = {"genhyperbolic", "geninvgauss", "norminvgauss"}
POINTS = {"genhyperbolic": [-1.0, 0.4, 2.0], "geninvgauss": [0.4, 1.5, 4.0], "norminvgauss": [-1.0, 0.4, 2.0]}
SIDES = ["cdf", "sf", "logcdf", "logsf"]
Q = np.array([1e-6, 0.01, 0.2, 0.52, 0.77, 0.99, 1 - 1e-6])
PLACE = (0.3, 1.7)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    NAMES = [name for name in SHAPES if hasattr(scipy.stats, name)]  # an older SciPy may lack one


def reference(name: str, method: str, *args: Any, **named: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return getattr(getattr(scipy.stats, name), method)(*args, **named)


def points(name: str, shapes: tuple[float, ...], q: Any = Q) -> Any:
    """Points in the middle and in both tails, and the ends of the support and points outside if there are any."""
    if name in POINTS:
        return np.array(POINTS[name])
    inside = stats.DISTRIBUTIONS[name].ours.ppf(q, *shapes)
    ends = [end for end in reference(name, "support", *shapes) if np.isfinite(end)]
    return np.concatenate([inside, *([end, end - 0.5, end + 0.5] for end in ends)]) if q is Q else inside


@pytest.mark.parametrize("name", NAMES)
def test_values_are_scipys(name: str) -> None:
    """Densities, probabilities and quantiles of tensors are SciPy's, at the ends of the support and outside too."""
    dist = getattr(stats, name)
    for shapes in SHAPES[name]:
        x = points(name, shapes) * PLACE[1] + PLACE[0]
        for method in ["pdf", "logpdf"] + ([] if name in DENSITY_ONLY else SIDES):
            found = getattr(dist, method)(gt.tensor(x), *shapes, *PLACE)
            assert isinstance(found, gt.Tensor)
            expected = reference(name, method, x, *shapes, *PLACE)
            known = ~np.isnan(expected) & (
                np.abs(expected) > 1e-30
            )  # SciPy's end with the last digit, or with a number
            known &= ~np.isneginf(expected)
            np.testing.assert_allclose(found.numpy()[known], expected[known], rtol=1e-6, err_msg=f"{method} {shapes}")
        if name in DENSITY_ONLY or name == "recipinvgauss":  # SciPy's quantiles of the latter fail
            continue
        q = np.concatenate([Q, [-0.5, 1.5] if name == "pearson3" else [0.0, 1.0, -0.5, 1.5]])
        for method in ("ppf", "isf"):
            found = getattr(dist, method)(gt.tensor(q), *shapes, *PLACE).numpy()
            np.testing.assert_allclose(
                found, reference(name, method, q, *shapes, *PLACE), rtol=1e-7, atol=1e-12, err_msg=f"{method} {shapes}"
            )


def assert_differentiates(function: Any, arguments: list[Any], is_twice: bool = False) -> None:
    """Forward mode is a central difference in a random direction, and reverse mode has the same product with it."""
    rng = np.random.default_rng(5)
    direction = [rng.uniform(0.5, 1.0, np.shape(x)) for x in arguments]
    step = 1e-5
    ends = [[x + side * step * d for x, d in zip(arguments, direction)] for side in (1, -1)]

    def check(tangent: Any, high: Any, low: Any, tolerance: float) -> None:
        np.testing.assert_allclose(tangent, (high - low) / (2 * step), rtol=tolerance, atol=tolerance)

    value, tangent = gt.jvp(function, tuple(arguments), tuple(direction))
    check(tangent, function(*ends[0]), function(*ends[1]), 5e-6)
    weights = rng.uniform(0.5, 1.0, np.shape(value))

    def gradient(*arguments: Any) -> Any:
        return gt.concatenate([g.reshape(-1) for g in gt.vjp(function, *arguments)[1](weights)])

    flat = np.concatenate([np.ravel(d) for d in direction])
    np.testing.assert_allclose(gradient(*arguments) @ flat, (weights * tangent).sum(), rtol=1e-9)
    if is_twice:
        curved = gt.jvp(gradient, tuple(arguments), tuple(direction))[1]
        check(curved, gradient(*ends[0]), gradient(*ends[1]), 5e-5)


TWICE = ("skewnorm", "vonmises", "invgauss", "genextreme", "gennorm", "tukeylambda", "exponweib", "pearson3")


@pytest.mark.parametrize("name", NAMES)
def test_differentiates_in_every_argument(name: str) -> None:
    """By x, the shapes, loc and scale, in both modes."""
    dist, shapes = getattr(stats, name), SHAPES[name][0]
    methods = ["pdf", "logpdf"] + ([] if name in DENSITY_ONLY else SIDES)
    quantiles = [] if name in DENSITY_ONLY else ["ppf", "isf"]

    def everything(x: Any, q: Any, *parameters: Any) -> Any:
        found = [getattr(dist.ours, method)(x, *parameters) for method in methods]
        found += [getattr(dist.ours, method)(q, *parameters) for method in quantiles]
        return gt.concatenate(found)

    x = points(name, shapes, np.array([0.15, 0.83])) * 1.2 + 0.3
    parameters = [np.array(value) for value in (*shapes, 0.3, 1.2)]
    assert_differentiates(everything, [x, np.array([0.21, 0.66]), *parameters], name in TWICE)


SLOW_IN_SCIPY = [
    "argus",
    "exponpow",
    "exponweib",
    "genexpon",
    "genhyperbolic",
    "geninvgauss",
    "gompertz",
    "halfgennorm",
    "johnsonsb",
    "kappa3",
    "kappa4",
    "kstwobign",
    "norminvgauss",
    "powerlognorm",
    "powernorm",
    "recipinvgauss",
    "vonmises",
    "vonmises_line",
]
SUMMARISED = [name for name in NAMES if name not in SLOW_IN_SCIPY]


@pytest.mark.parametrize("name", SUMMARISED)
def test_mean_variance_and_entropy(name: str) -> None:
    """Values are SciPy's, also where they are infinite or do not exist; derivatives by the shapes, loc and scale."""
    dist, shapes = getattr(stats, name), SHAPES[name][0]
    arguments = [gt.tensor(value) for value in (*shapes, *PLACE)]
    for method in ("mean", "var", "entropy"):
        function = getattr(dist, method)
        expected = reference(name, method, *shapes, *PLACE)
        value = function(*arguments)
        np.testing.assert_allclose(value.numpy(), expected, rtol=1e-6, err_msg=method)
        if not shapes or not np.isfinite(expected):
            continue
        slopes = gt.grad(function, tuple(range(len(shapes))))(*arguments)
        steps = [1e-4 * max(abs(shape), 0.1) for shape in shapes]
        ends = [[shape + side * step for shape, step in zip(shapes, steps)] for side in (1, -1)]
        high, low = (reference(name, method, *end, *PLACE) for end in ends)
        found = sum(float(slope) * 2 * step for slope, step in zip(slopes, steps))
        np.testing.assert_allclose(found, high - low, rtol=2e-4, atol=1e-9, err_msg=method)


COUNTS: dict[str, tuple[float, ...]] = {
    "bernoulli": (0.3,),
    "betabinom": (6, 1.7, 2.4),
    "betanbinom": (3, 3.1, 1.2),
    "binom": (6, 0.3),
    "boltzmann": (0.7, 6),
    "dlaplace": (0.8,),
    "geom": (0.3,),
    "logser": (0.6,),
    "nbinom": (2.5, 0.4),
    "planck": (0.6,),
    "poisson": (2.1,),
    "skellam": (2.3, 1.4),
    "yulesimon": (3.3,),
    "zipf": (4.5,),
    "zipfian": (1.3, 6),
}
WHOLE = {"betabinom": 1, "betanbinom": 1, "binom": 1}
"""How many of the first parameters are whole numbers."""


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name: str) -> None:
    """Masses and probabilities are SciPy's, on integers, between them and outside; parameters have derivatives."""
    dist, parameters = getattr(stats, name), COUNTS[name]
    k = np.array([-3, -1, 0, 0.5, 1, 2, 4, 5, 6, 7, 12])
    for method in ("pmf", "logpmf", *SIDES):
        for loc in (0, 2):
            found = getattr(dist, method)(gt.tensor(k + loc), *parameters, loc).numpy()
            expected = reference(name, method, k + loc, *parameters, loc)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=method)
    whole = WHOLE.get(name, 0)
    first, moving = parameters[:whole], [np.array(float(value)) for value in parameters[whole:]]
    last = (moving.pop(),) if name in ("boltzmann", "zipfian") else ()
    points = np.array([0.0] if name == "bernoulli" else [1.0, 2.0, 4.0])

    def everything(*values: Any) -> Any:
        methods = ("pmf", "logpmf", *SIDES)
        return gt.concatenate([getattr(dist.ours, method)(points, *first, *values, *last) for method in methods])

    assert_differentiates(everything, moving, is_twice=True)
    for method in ("mean", "var"):
        found = getattr(dist, method)(*map(gt.tensor, parameters)).numpy()
        np.testing.assert_allclose(found, reference(name, method, *parameters), rtol=1e-9)


def test_moments_of_higher_order() -> None:
    """Skewness, kurtosis and the third moment have derivatives too."""
    for name in ("gamma", "skewnorm", "genpareto", "weibull_min"):
        dist, shapes = getattr(stats, name), SHAPES[name][0]

        def moments(*parameters: Any, dist: Any = dist) -> Any:
            return gt.stack([*dist.stats(*parameters, moments="mvsk"), dist.moment(3, *parameters)])

        arguments = (*shapes, *PLACE)
        theirs = getattr(scipy.stats, name)
        expected = [*theirs.stats(*arguments, moments="mvsk"), theirs.moment(3, *arguments)]
        np.testing.assert_allclose(moments(*map(gt.tensor, arguments)).numpy(), expected, rtol=1e-7)
        jacobian = gt.jacobian(moments)(gt.tensor(arguments[0]), *arguments[1:]).numpy()
        step = 1e-4
        ends = [(arguments[0] + side * step, *arguments[1:]) for side in (1, -1)]
        high, low = ([*theirs.stats(*end, moments="mvsk"), theirs.moment(3, *end)] for end in ends)
        np.testing.assert_allclose(jacobian, (np.array(high) - low) / (2 * step), rtol=1e-4, atol=1e-4)


def test_a_derivative_that_is_no_number_is_refused() -> None:
    """Where SciPy has a number for a moment that does not exist, the integral does not agree, and an error says so."""
    with pytest.raises(gt.NumericsError, match="not found to enough digits"):
        stats.gengamma.moment(3, gt.tensor(2.2), -1.3)


# -- the objects


def test_without_tensors_it_is_scipy() -> None:
    """Methods of arrays are SciPy's own, down to the type of the result; attributes too."""
    assert type(stats.norm.cdf(0.0)) is type(scipy.stats.norm.cdf(0.0))
    drawn = [where.gamma.rvs(2.0, size=3, random_state=1) for where in (stats, scipy.stats)]
    np.testing.assert_array_equal(*drawn)
    assert stats.norm.fit([1.0, 2.0, 4.0]) == scipy.stats.norm.fit([1.0, 2.0, 4.0])
    assert stats.gamma.shapes == "a"
    assert stats.gamma(2.0).support() == scipy.stats.gamma(2.0).support()
    assert stats.poisson(3.0).pmf(2) == scipy.stats.poisson(3.0).pmf(2)
    assert stats.norm(1.0, 2.0).interval(0.9) == scipy.stats.norm(1.0, 2.0).interval(0.9)
    assert stats.expon.expect(lambda x: x) == scipy.stats.expon.expect(lambda x: x)


def test_frozen_with_tensors() -> None:
    """A frozen distribution keeps tensors as its parameters, and takes tensors as points."""
    loss = gt.value_and_grad(lambda a, scale: stats.gamma(a, scale=scale).logpdf([1.0, 2.0]).sum(), (0, 1))
    value, slopes = loss(gt.tensor(2.0), gt.tensor(1.5))
    assert value == pytest.approx(scipy.stats.gamma(2.0, scale=1.5).logpdf([1.0, 2.0]).sum())
    numeric = scipy.stats.gamma(2.0001, scale=1.5).logpdf([1.0, 2.0]).sum() - float(value)
    assert float(slopes[0]) == pytest.approx(numeric / 1e-4, rel=1e-3)
    assert isinstance(stats.norm(0.0, 1.0).logpdf(gt.tensor(1.0)), gt.Tensor)
    frozen = stats.gamma(gt.tensor(2.0))
    np.testing.assert_allclose([float(x) for x in frozen.interval(0.9)], scipy.stats.gamma(2.0).interval(0.9))
    np.testing.assert_allclose([float(x) for x in frozen.stats("mvsk")], scipy.stats.gamma(2.0).stats("mvsk"))
    assert [float(end) for end in frozen.support()] == [0.0, np.inf]
    assert float(frozen.expect(lambda x: x**2)) == pytest.approx(6.0)
    assert float(stats.norm.logpdf([gt.tensor(0.0), 1.0]).sum()) == pytest.approx(-2.337877)


@pytest.mark.parametrize("name", ["norm", "gamma", "skewnorm", "beta", "vonmises_line"])
def test_draws_are_scipys_and_move_with_the_parameters(name: str) -> None:
    """`rvs` of tensors gives SciPy's numbers for a seed; they keep their share of the mass when a parameter moves."""
    shapes = SHAPES[name][0]
    dist, theirs = getattr(stats, name), getattr(scipy.stats, name)
    arguments = (*shapes, 0.5, 1.5)
    draws = dist.rvs(*map(gt.tensor, arguments), size=4, random_state=3)
    expected = theirs.rvs(*arguments, size=4, random_state=3)
    np.testing.assert_allclose(draws.numpy(), expected)
    shares = theirs.cdf(expected, *arguments)
    for place in range(len(arguments)):
        slope = gt.jacobian(lambda *p: dist.rvs(*p, size=4, random_state=3), place)(*map(gt.tensor, arguments))
        step = 1e-4
        ends = [(*arguments[:place], arguments[place] + side * step, *arguments[place + 1 :]) for side in (1, -1)]
        high, low = (theirs.ppf(shares, *end) for end in ends)
        np.testing.assert_allclose(slope.numpy(), (high - low) / (2 * step), rtol=1e-4, atol=1e-6)


def test_expected_values_differentiate() -> None:
    """`expect` has derivatives by the parameters, and by the limits."""
    slope = gt.grad(lambda scale: stats.norm.expect(lambda x: x**2, loc=1.0, scale=scale))(gt.tensor(2.0))
    assert float(slope) == pytest.approx(4.0)
    slope = gt.grad(lambda end: stats.expon.expect(lambda x: x, ub=end))(gt.tensor(2.0))
    assert float(slope) == pytest.approx(2 * np.exp(-2))
    half = stats.expon.expect(lambda x: x, ub=gt.tensor(2.0), conditional=True)
    assert float(half) == pytest.approx(scipy.stats.expon.expect(lambda x: x, ub=2.0, conditional=True))


def test_compiled_and_batched() -> None:
    """Under `jit` and `vmap` the numbers and the gradients are the same."""
    x = np.array([0.3, 0.8])

    def loss(x: Any, a: Any) -> Any:
        return (stats.skewnorm(a, scale=1.3).logcdf(x) + stats.genpareto.ppf(x, 0.1 * a)).sum()

    expected = gt.grad(loss, (0, 1))(x, np.array(1.4))
    compiled = gt.grad(gt.jit(loss), (0, 1))(x, np.array(1.4))
    mapped = gt.vmap(gt.grad(loss, (0, 1)), (None, 0))(x, np.array([1.4, 1.4]))
    for a, b, c in zip(expected, compiled, mapped):
        np.testing.assert_allclose(b, a, rtol=1e-10)
        np.testing.assert_allclose(c[1], a, rtol=1e-10)


def test_every_distribution_is_known() -> None:
    """Each distribution of SciPy's has derivatives, or a reason why it has none."""
    for name, dist in stats.DISTRIBUTIONS.items():
        assert (dist.ours is not None) != (name in CONSTANT_DENSITIES), name
        if isinstance(dist.ours, Continuous):
            assert name in SHAPES or name == "trapz"  # another name of trapezoid, up to SciPy 1.15
            shapes = getattr(scipy.stats, name).shapes
            assert dist.ours.shapes == (tuple(shapes.replace(" ", "").split(",")) if shapes else ())


@pytest.mark.parametrize("name", sorted(CONSTANT_DENSITIES))
def test_distributions_without_derivatives_say_why(name: str) -> None:
    """A tensor with a gradient is refused with the reason; one without is the array that it holds."""
    dist = getattr(stats, name, None)
    if dist is None:  # an older SciPy
        return
    method = dist.pdf if hasattr(dist._theirs, "pdf") else dist.pmf
    with pytest.raises(gt.UnsupportedError, match=CONSTANT_DENSITIES[name][:20]):
        gt.grad(lambda x: method(x))(gt.tensor(0.5))
    with pytest.raises(gt.UnsupportedError, match=r"norm\.fit finds parameters"):
        gt.grad(lambda x: stats.norm.fit(x)[0])(gt.tensor([0.5, 1.0]))
