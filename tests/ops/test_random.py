"""`gt.random`: the draws of NumPy's generators, how they move with their parameters, and where they do not."""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as gt
from gradtape import random
from gradtape.random import ParameterError

ROOT = Path(__file__).parents[2]
COVARIANCE = np.array([[2.0, 0.3], [0.3, 1.0]])

# how the generator's own method is called, for the same parameters
NUMPYS: dict[str, Any] = {
    "normal": lambda rng, *p, size: rng.normal(*p, size),
    "uniform": lambda rng, *p, size: rng.uniform(*p, size),
    "laplace": lambda rng, *p, size: rng.laplace(*p, size),
    "logistic": lambda rng, *p, size: rng.logistic(*p, size),
    "gumbel": lambda rng, *p, size: rng.gumbel(*p, size),
    "cauchy": lambda rng, loc, scale, size: loc + scale * rng.standard_cauchy(size or np.broadcast(loc, scale).shape),
    "lognormal": lambda rng, *p, size: rng.lognormal(*p, size),
    "exponential": lambda rng, *p, size: rng.exponential(*p, size),
    "rayleigh": lambda rng, *p, size: rng.rayleigh(*p, size),
    "half_normal": lambda rng, scale, size: np.abs(rng.normal(0.0, scale, size)),
    "weibull": lambda rng, *p, size: rng.weibull(*p, size),
    "pareto": lambda rng, *p, size: rng.pareto(*p, size),
    "gamma": lambda rng, *p, size: rng.gamma(*p, size),
    "inverse_gamma": lambda rng, a, scale, size: scale / rng.gamma(a, np.ones_like(scale), size),
    "chisquare": lambda rng, *p, size: rng.chisquare(*p, size),
    "beta": lambda rng, *p, size: rng.beta(*p, size),
    "student_t": lambda rng, df, size: rng.standard_t(df, size),
}
POINTS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(
        ("normal", "laplace", "logistic", "gumbel", "cauchy", "lognormal"),
        (np.array([0.3, -1.0, 2.0]), np.array([[0.5], [1.5]])),
    ),
    "uniform": (np.array([-1.0, 0.0, 1.0]), np.array([[2.0], [3.0]])),
    **dict.fromkeys(("exponential", "rayleigh", "half_normal"), (np.array([0.5, 1.0, 2.5]),)),
    **dict.fromkeys(("weibull", "pareto", "chisquare"), (np.array([0.7, 1.0, 3.5]),)),
    "gamma": (np.array([0.4, 1.0, 7.5]), np.array([[0.5], [2.0]])),
    "inverse_gamma": (np.array([0.8, 1.0, 7.5]), np.array([[0.5], [2.0]])),
    "beta": (np.array([0.4, 1.0, 7.5]), np.array([[0.6], [2.5]])),
    "student_t": (np.array([1.5, 4.0, 30.0]),),
}
DISCRETE: dict[str, tuple[Any, Any, tuple[Any, ...]]] = {
    "bernoulli": (random.bernoulli, lambda rng, p, size: rng.random(size) < p, (np.array([0.1, 0.5, 0.9]),)),
    "binomial": (random.binomial, lambda rng, n, p, size: rng.binomial(n, p, size), (9, np.array([0.1, 0.5, 0.9]))),
    "poisson": (random.poisson, lambda rng, lam, size: rng.poisson(lam, size), (np.array([0.1, 3.0, 90.0]),)),
    "geometric": (random.geometric, lambda rng, p, size: rng.geometric(p, size), (np.array([0.1, 0.5, 0.9]),)),
    "negative_binomial": (
        random.negative_binomial,
        lambda rng, n, p, size: rng.negative_binomial(n, p, size),
        (5, np.array([0.1, 0.5, 0.9])),
    ),
    "categorical": (
        random.categorical,
        lambda rng, logits, size: np.argmax(logits + rng.gumbel(size=(*size, 3)), -1),
        (np.log([0.2, 0.3, 0.5]),),
    ),
}


def generator(seed: int = 7) -> np.random.Generator:
    return np.random.default_rng(seed)


def frozen(name: str, seed: int = 7, **how: Any) -> Any:
    """The draw as a function of its parameters: with the same randomness every time."""
    return lambda *params: getattr(random, name)(generator(seed), *params, **how)


def transported(name: str, at: tuple[Any, ...], seed: int = 7) -> Any:
    """What the draw made at `at` becomes for other parameters: the point of the same probability, by SciPy."""
    drawn = np.asarray(frozen(name, seed)(*at))
    special = scipy.special
    if name in ("gamma", "inverse_gamma"):
        standard = drawn / at[1] if name == "gamma" else at[1] / drawn
        share = special.gammainc(at[0], standard)
        standard_at = lambda a: special.gammaincinv(a, share)
        return (lambda a, s: s * standard_at(a)) if name == "gamma" else (lambda a, s: s / standard_at(a))
    if name == "chisquare":
        return lambda df: 2 * special.gammaincinv(df / 2, special.gammainc(at[0] / 2, drawn / 2))
    if name == "beta":
        return lambda a, b: special.betaincinv(a, b, special.betainc(*at, drawn))
    share = scipy.stats.t.cdf(drawn, at[0])
    return lambda df: scipy.stats.t.ppf(share, df)


BY_REJECTION = ["gamma", "inverse_gamma", "chisquare", "beta", "student_t"]
BY_TRANSFORMATION = [name for name in POINTS if name not in BY_REJECTION]


# -- values


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("size", [None, (2, 3), (4, 2, 3)])
def test_draws_are_numpys(name: str, size: Any) -> None:
    """The same state gives the draws of the generator's own method, for parameters that broadcast and any size."""
    params = POINTS[name]
    if len(params) == 1 and size == (2, 3):
        size = (5, 3)
    rng, numpys = generator(), generator()
    found = getattr(random, name)(rng, *(gt.tensor(p) for p in params), size=size)
    expected = NUMPYS[name](numpys, *params, size=size)
    assert isinstance(found, gt.Tensor)
    assert (found.shape, found.dtype) == (expected.shape, np.dtype(float))
    np.testing.assert_allclose(found.numpy(), expected, rtol=4e-15, atol=1e-15)
    assert rng.random() == numpys.random()  # and leaves the generator where NumPy leaves it


@pytest.mark.parametrize("name", POINTS)
def test_scalars_and_arrays_stay_out_of_the_tape(name: str) -> None:
    """Python numbers and arrays give arrays, as everywhere; an integer size is one axis; an empty one is empty."""
    numbers = [float(np.ravel(p)[0]) for p in POINTS[name]]
    assert np.shape(getattr(random, name)(generator(), *numbers)) == ()
    drawn = getattr(random, name)(generator(), *numbers, size=4)
    assert isinstance(drawn, np.ndarray)
    assert drawn.shape == (4,)
    assert getattr(random, name)(generator(), *numbers, size=(0, 3)).shape == (0, 3)


@pytest.mark.parametrize("name", POINTS)
def test_single_precision_stays(name: str) -> None:
    """float32 parameters give float32 draws, those of double precision rounded, and float32 gradients."""
    params = [p.astype("float32") for p in POINTS[name]]
    found = frozen(name)(*params)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, frozen(name)(*(p.astype(float) for p in params)), rtol=1e-5)
    gradients = gt.vjp(frozen(name), *params)[1](np.ones_like(found))
    assert [(g.shape, g.dtype) for g in gradients] == [(p.shape, np.dtype("float32")) for p in params]


def test_half_precision_stays() -> None:
    """float16 parameters give float16 draws, also of what is computed in single precision."""
    for name in ("normal", "gamma", "beta", "student_t", "chisquare"):
        params = [p.astype("float16") for p in POINTS[name]]
        assert frozen(name)(*params).dtype == np.float16
    assert random.dirichlet(generator(), np.array([1.0, 2.0, 3.0], "float16")).dtype == np.float16


def test_the_packages_wait_until_needed() -> None:
    """`import gradtape` loads neither `gt.random` nor `gt.stats` nor `gt.signal`; each is there when first named."""
    code = (
        "import sys, gradtape as gt; names = ('gradtape.random', 'gradtape.stats', 'gradtape.signal');"
        "assert not any(name in sys.modules for name in names);"
        "gt.random.normal, gt.stats.norm, gt.signal.convolve; assert all(name in sys.modules for name in names)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(sorted(POINTS)), st.integers(0, 2**32 - 1), st.floats(0.05, 200.0), st.floats(0.05, 200.0))
def test_draws_are_numpys_for_any_parameters(name: str, seed: int, first: float, second: float) -> None:
    """Values from small to large shapes and scales are NumPy's, and their gradients are finite."""
    params = [np.array(p) for p in sorted((first, second))[: len(POINTS[name])]]
    found = getattr(random, name)(generator(seed), *params, size=3)
    expected = NUMPYS[name](generator(seed), *params, size=3)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    if np.all(np.isfinite(found)):
        gradients = gt.vjp(frozen(name, seed, size=3), *params)[1](np.ones(3))
        assert all(np.all(np.isfinite(g)) for g in gradients)


# -- derivatives


@pytest.mark.parametrize("name", BY_TRANSFORMATION)
def test_transformed_noise_differentiates(name: str) -> None:
    """With fixed randomness a draw is a function of its parameters: both modes, second order, for each of them."""
    function, params = frozen(name), POINTS[name]
    weights = generator(1).normal(size=function(*params).shape)
    assert gt.gradcheck(lambda *p: (function(*p) * weights).sum(), *params, order=2)


@pytest.mark.parametrize("name", BY_REJECTION)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_implicit_derivatives_are_those_of_the_quantile(name: str, seed: int) -> None:
    """The derivative of a draw made by rejection is that of the quantile function at a fixed probability."""
    params = POINTS[name]
    moved = transported(name, params, seed)
    np.testing.assert_allclose(moved(*params), frozen(name, seed)(*params), rtol=1e-9)
    for k, param in enumerate(params):
        step = 1e-5 * param
        ahead, behind = (moved(*params[:k], param + s * step, *params[k + 1 :]) for s in (1, -1))
        expected = (ahead - behind) / (2 * step)
        tangents = tuple(np.ones_like(p) if i == k else np.zeros_like(p) for i, p in enumerate(params))
        found = gt.jvp(frozen(name, seed), params, tangents)[1]
        np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), rtol=2e-6, atol=1e-9)
        weights = generator(2).normal(size=found.shape)
        gradient = gt.vjp(frozen(name, seed), *params)[1](weights)[k]
        assert np.sum(gradient) == pytest.approx(np.sum(weights * found))


@pytest.mark.parametrize("name", BY_REJECTION)
def test_implicit_second_derivatives(name: str) -> None:
    """The second derivative is the difference of first ones of the transported draw."""
    shape = np.array(2.3)
    rest = tuple(np.array(1.7) for _ in POINTS[name][1:])
    at = (shape, *rest)
    drawn = frozen(name)(*at)
    second = gt.grad(gt.grad(frozen(name)))(*at)
    moved = transported(name, at)
    step = 1e-3
    numeric = (moved(shape + step, *rest) - 2 * drawn + moved(shape - step, *rest)) / step**2
    assert float(second) == pytest.approx(float(numeric), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("a", [1e-3, 0.02, 0.3, 1.0, 30.0, 1e4, 1e8])
def test_gamma_derivative_for_small_and_large_shapes(a: float) -> None:
    """dz/da is exact over the whole range, against expansions for small and for large shapes."""
    drawn, tangent = gt.jvp(frozen("gamma", size=200), (np.array(a), np.array(1.0)), (np.array(1.0), np.array(0.0)))
    assert np.all(np.isfinite(tangent))
    regular = drawn > 1e-200
    if a <= 0.02:  # where z is small F(a, z) = z^a / gamma(a + 1), and so dz/da = -z (log z - digamma(a + 1)) / a
        small = regular & (drawn < 1e-10)
        expected = -drawn * (np.log(np.where(small, drawn, 1)) - scipy.special.digamma(a + 1)) / a
        np.testing.assert_allclose(tangent[small], expected[small], rtol=1e-8)
        assert small.sum() > 20
    elif a >= 1e4:  # z = a + sqrt(a) n + (n^2 - 1) / 3 + ..., n normal
        n = (drawn - a) / np.sqrt(a)
        n = n - (n * n - 1) / (3 * np.sqrt(a))
        np.testing.assert_allclose(tangent, 1 + n / (2 * np.sqrt(a)), atol=2 / a)
    else:
        share = scipy.special.gammainc(a, drawn)
        step = 1e-6 * a
        numeric = scipy.special.gammaincinv(a + step, share) - scipy.special.gammaincinv(a - step, share)
        middle = regular & (share < 0.999)
        np.testing.assert_allclose(tangent[middle], numeric[middle] / (2 * step), rtol=1e-5, atol=1e-12)


def test_a_draw_too_small_for_a_number_does_not_move() -> None:
    """Where a tiny shape gives exactly 0, the first and second derivatives are 0 and not NaN."""
    function = frozen("gamma", size=50)
    drawn = function(np.array(1e-3), np.array(1.0))
    assert np.any(drawn == 0)
    weights = (drawn == 0).astype(float)
    total = lambda a: (function(a, np.array(1.0)) * weights).sum()
    assert gt.grad(total)(np.array(1e-3)) == 0
    assert gt.grad(gt.grad(total))(np.array(1e-3)) == 0


@pytest.mark.parametrize(
    ("name", "params", "power", "expected"),
    [
        ("gamma", (2.5, 1.5), 2, lambda a, s: s * s * a * (a + 1)),
        ("beta", (1.5, 2.5), 1, lambda a, b: a / (a + b)),
        ("student_t", (6.0,), 2, lambda df: df / (df - 2)),
        ("weibull", (2.0,), 1, lambda a: gt.special.gamma(1 + 1 / a)),
        ("lognormal", (0.1, 0.4), 1, lambda m, s: np.exp(m + s * s / 2)),
    ],
)
def test_gradients_are_unbiased(name: str, params: tuple[float, ...], power: int, expected: Any) -> None:
    """The mean of the gradients of many draws is the gradient of the mean, which is known."""
    point = [np.array(p) for p in params]
    numbers = tuple(range(len(params)))
    found = gt.grad(lambda *p: (frozen(name, 3, size=40_000)(*p) ** power).mean(), numbers)(*point)
    wanted = gt.grad(lambda *p: expected(*p) + 0.0, numbers)(*point)
    np.testing.assert_allclose(found, wanted, rtol=0.05, atol=0.02)


# -- Dirichlet


@pytest.mark.parametrize("alpha", [[1.5, 0.7, 4.0], [0.05, 0.02, 0.08], [300.0, 1.0, 20.0, 0.5], [2.0, 3.0]])
@pytest.mark.parametrize("size", [None, 3, (2, 3)])
def test_dirichlet_draws_are_numpys(alpha: list[float], size: Any) -> None:
    """Proportions are NumPy's to the last digit, also for small concentrations; they sum to 1."""
    found = random.dirichlet(generator(), gt.tensor(alpha), size)
    np.testing.assert_array_equal(found.numpy(), generator().dirichlet(alpha, size))


@pytest.mark.parametrize("alpha", [[1.5, 0.7, 4.0], [0.3, 0.2, 0.4], [30.0, 1.0, 20.0, 0.5]])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_dirichlet_derivatives_are_those_of_its_quantiles(alpha: list[float], seed: int) -> None:
    """Each part is a quantile of a beta distribution of what is left: finite differences of those, at fixed shares."""
    at = np.array(alpha)
    x = generator(seed).dirichlet(at)

    def moved(alpha: Any) -> Any:
        left, left_now, parts = 1.0, 1.0, []
        for k in range(len(at) - 1):
            share = scipy.special.betainc(at[k], at[k + 1 :].sum(), x[k] / left)
            fraction = scipy.special.betaincinv(alpha[k], alpha[k + 1 :].sum(), share)
            parts.append(left_now * fraction)
            left, left_now = left - x[k], left_now * (1 - fraction)
        return np.array([*parts, left_now])

    np.testing.assert_allclose(moved(at), x, rtol=1e-6)
    jacobian = gt.jacobian(frozen("dirichlet", seed))(at)
    for k in range(len(at)):
        step = np.zeros(len(at))
        step[k] = 1e-5 * at[k]
        np.testing.assert_allclose(
            jacobian[:, k], (moved(at + step) - moved(at - step)) / (2 * step[k]), rtol=1e-4, atol=1e-7
        )
    np.testing.assert_allclose(jacobian.sum(0), 0, atol=1e-12)


def test_dirichlet_gradients_are_unbiased() -> None:
    """The mean gradient of sum(x^2) is that of sum(alpha (alpha + 1)) / (A (A + 1)); second derivatives exist."""
    alpha = np.array([0.8, 1.5, 3.0])
    found = gt.grad(lambda a: (frozen("dirichlet", 5, size=6_000)(a) ** 2).sum(-1).mean())(alpha)
    wanted = gt.grad(lambda a: (a * (a + 1)).sum() / (a.sum() * (a.sum() + 1)))(alpha)
    np.testing.assert_allclose(found, wanted, atol=0.01)
    curved = gt.hessian(lambda a: (frozen("dirichlet", 5, size=6_000)(a) ** 2).sum(-1).mean())(alpha)
    expected = gt.hessian(lambda a: (a * (a + 1)).sum() / (a.sum() * (a.sum() + 1)))(alpha)
    np.testing.assert_allclose(curved, curved.T, atol=1e-10)
    np.testing.assert_allclose(curved, expected, atol=0.04)


def test_dirichlet_of_tiny_concentrations_has_exact_relative_gradients() -> None:
    """Where one part is nearly everything and another 1e-50, the derivative of its logarithm is still right."""
    alpha = np.array([0.02, 0.03])
    x = generator(11).dirichlet(alpha, 40)
    tangent = gt.jvp(frozen("dirichlet", 11, size=40), (alpha,), (np.array([1.0, 0.0]),))[1]
    small = (x[:, 0] < 1e-10) & (x[:, 0] > 1e-250)
    assert small.any()
    # I(a, b, x) = x^a / (a B(a, b)) for small x, so that a dlog(x)/da = -log(x) + 1/a + dlog B(a, b)/da
    a, b = alpha
    slope = (1 / a + scipy.special.digamma(a) - scipy.special.digamma(a + b) - np.log(x[small, 0])) / a
    np.testing.assert_allclose(tangent[small, 0] / x[small, 0], slope, rtol=1e-8)


# -- vectors


def test_multivariate_normal_is_numpys_and_differentiates() -> None:
    """The draws are those of NumPy's method "cholesky"; mean and covariance have derivatives, the factor too."""
    mean = np.array([1.0, -1.0])
    found = random.multivariate_normal(generator(), gt.tensor(mean), COVARIANCE, size=(4, 3))
    expected = generator().multivariate_normal(mean, COVARIANCE, size=(4, 3), method="cholesky")
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-13)
    factor = np.linalg.cholesky(COVARIANCE)
    same = random.multivariate_normal(generator(), mean, cholesky=factor, size=(4, 3))
    np.testing.assert_allclose(same, expected, rtol=1e-13)
    draw = lambda mean, cov: random.multivariate_normal(generator(), mean, (cov + cov.T) / 2, size=3)
    assert gt.gradcheck(lambda mean, cov: np.sin(draw(mean, cov)).sum(), mean, COVARIANCE, order=2)
    stacked = random.multivariate_normal(generator(), np.zeros((5, 2)), np.stack([COVARIANCE] * 5))
    np.testing.assert_allclose(stacked, random.multivariate_normal(generator(), np.zeros(2), COVARIANCE, 5))


def test_gumbel_softmax() -> None:
    """It is the softmax of logits with Gumbel noise; hard, one category with the gradient of the soft one."""
    logits, temperature = np.array([[0.1, 1.0, -0.5], [2.0, 0.0, 0.3]]), np.array(0.7)
    soft = frozen("gumbel_softmax")(logits, temperature)
    expected = scipy.special.softmax((logits + generator().gumbel(size=(2, 3))) / temperature, axis=-1)
    np.testing.assert_allclose(soft, expected, rtol=1e-13)
    hard = frozen("gumbel_softmax", hard=True)(logits, temperature)
    assert hard.tolist() == np.eye(3)[expected.argmax(-1)].tolist()
    weights = generator(3).normal(size=(2, 3))
    gradients = [
        gt.vjp(f, logits, temperature)[1](weights)
        for f in (frozen("gumbel_softmax"), frozen("gumbel_softmax", hard=True))
    ]
    for a, b in zip(*gradients, strict=True):
        np.testing.assert_allclose(a, b)
    assert gt.gradcheck(lambda *p: (frozen("gumbel_softmax")(*p) * weights).sum(), logits, temperature, order=2)
    across = random.gumbel_softmax(generator(), logits, hard=True, axis=0)
    assert across.sum(0).tolist() == [1.0] * 3
    several = random.gumbel_softmax(generator(), logits[0].astype("float32"), size=(5, 3))
    assert (several.shape, several.dtype) == ((5, 3), np.dtype("float32"))


def test_categorical_is_the_category_of_gumbel_softmax() -> None:
    """From the same state, the category drawn is the largest part of the relaxed draw."""
    logits = np.log([0.2, 0.5, 0.3])
    soft = random.gumbel_softmax(generator(), logits, size=(50, 3))
    assert random.categorical(generator(), logits, size=50).tolist() == soft.argmax(-1).tolist()


# -- discrete draws


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_draws_are_numpys(name: str) -> None:
    """The same state gives NumPy's integers, as tensors when a parameter is one."""
    draw, numpys, params = DISCRETE[name]
    size = (4,) if name == "categorical" else (4, 3)
    expected = numpys(generator(), *params, size)
    found = draw(generator(), *params, size=size)
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype
    tensors = draw(generator(), *(gt.tensor(p) for p in params), size=size)
    assert tensors.numpy().tolist() == expected.tolist()


@pytest.mark.parametrize("name", DISCRETE)
def test_the_missing_gradient_is_explained(name: str) -> None:
    """What comes of a discrete draw has no gradient in its parameters, and `why` names the draw and a way out."""
    draw, _, params = DISCRETE[name]
    with gt.GradientTape(persistent=True) as tape:
        p = tape.watch(params[-1])
        loss = (draw(generator(), *params[:-1], p) * 2.0).sum()
    text = tape.why(loss, p)
    assert f"random.{name}, a discrete draw" in text
    assert "gumbel_softmax" in text
    assert "score-function" in text


def test_the_reparameterised_draw_is_a_path() -> None:
    """`why` finds the way through a draw that moves with its parameters, inside `vmap` too."""
    with gt.GradientTape(persistent=True) as tape:
        a = tape.watch(np.array([1.5, 2.5]))
        plain = random.gamma(generator(), a).sum()
        mapped = gt.vmap(lambda a: random.gamma(generator(), a))(a).sum()
    assert tape.why(plain, a).startswith("the gradient flows")
    assert tape.why(mapped, a).startswith("the gradient flows")


@pytest.mark.parametrize(("low", "high", "endpoint"), [(5, None, False), (-3, 4, False), (np.array([0, 10]), 20, True)])
def test_integers_are_numpys(low: Any, high: Any, endpoint: bool) -> None:
    """Integers from the same state are NumPy's, for bounds that are arrays too."""
    size = (3, 2)
    found = random.integers(generator(), low, high, size, endpoint=endpoint)
    np.testing.assert_array_equal(found, generator().integers(low, high, size, endpoint=endpoint))
    assert random.integers(generator(), 5, size=2, dtype=np.int32).dtype == np.int32


@pytest.mark.parametrize("shape", [(5,), (4, 3)])
def test_permutation_is_numpys_and_carries_the_gradient(shape: tuple[int, ...]) -> None:
    """The slices come in NumPy's order, and each gets the gradient of the place it went to."""
    x = np.arange(float(np.prod(shape))).reshape(shape)
    for axis in range(len(shape)):
        found = random.permutation(generator(), gt.tensor(x), axis)
        np.testing.assert_array_equal(found.numpy(), generator().permutation(x, axis))
        weights = generator(2).normal(size=shape)
        gradient = gt.grad(lambda x, axis=axis, w=weights: (random.permutation(generator(), x, axis) * w).sum())(x)
        order = generator().permutation(shape[axis])
        np.testing.assert_array_equal(np.take(gradient, order, axis), weights)
    assert random.permutation(generator(), 6).tolist() == generator().permutation(6).tolist()


def test_choice_is_numpys_and_carries_the_gradient() -> None:
    """Picks are NumPy's; what is picked twice collects both gradients; the probabilities get a cut."""
    a, p = np.array([1.0, 2.0, 4.0]), np.array([0.2, 0.3, 0.5])
    for how in ({}, {"p": p}, {"replace": False}, {"replace": False, "shuffle": False, "p": p}):
        size = 2 if "replace" in how else (4, 2)
        np.testing.assert_array_equal(
            random.choice(generator(), gt.tensor(a), size, **how).numpy(), generator().choice(a, size, **how)
        )
    picks = generator().choice(3, 6, p=p)
    gradient = gt.grad(lambda a: random.choice(generator(), a, 6, p=p).sum())(a)
    assert gradient.tolist() == np.bincount(picks, minlength=3).tolist()
    assert random.choice(generator(), 9, 4).tolist() == generator().choice(9, 4).tolist()
    with gt.GradientTape(persistent=True) as tape:
        weights = tape.watch(p)
        loss = random.choice(generator(), a, 6, p=weights).sum()
    assert "random.choice, a discrete draw" in tape.why(loss, weights)


# -- vmap


@pytest.mark.parametrize("name", POINTS)
def test_vmap_draws_what_a_loop_draws(name: str) -> None:
    """Each example has its own draw: those of a loop over the examples with one generator, and their gradients."""
    point = [np.stack([np.ravel(p)[:1] * f for f in (1.0, 1.2, 1.5)]) for p in POINTS[name]]
    draw = lambda rng: lambda *p: getattr(random, name)(rng, *p, size=(2, 1))
    rng, again = generator(), generator()
    found = gt.vmap(draw(rng))(*point)
    expected = np.stack([draw(again)(*(p[i] for p in point)) for i in range(3)])
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert found.shape == (3, 2, 1)
    rng, again = generator(), generator()
    mapped = gt.vmap(lambda *p: gt.grad(lambda *p: (draw(rng)(*p) ** 2).sum())(*p))(*point)
    alone = [gt.grad(lambda *p: (draw(again)(*p) ** 2).sum())(*(p[i] for p in point)) for i in range(3)]
    np.testing.assert_allclose(mapped, np.stack(alone), rtol=1e-10)
    outside = gt.grad(lambda *p: gt.vmap(draw(generator()))(*p).sum())(*point)
    assert outside.shape == point[0].shape


def test_vmap_of_vectors_draws_what_a_loop_draws() -> None:
    """Dirichlet, multivariate normal, relaxed and discrete draws and permutations: each example its own."""
    alpha, p = np.array([[1.0, 2.0, 3.0], [0.5, 4.0, 1.0]]), np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    functions = {
        "dirichlet": lambda rng: lambda x: random.dirichlet(rng, x, 2),
        "multivariate_normal": lambda rng: lambda x: random.multivariate_normal(rng, x, np.eye(3), 2),
        "gumbel_softmax": lambda rng: lambda x: random.gumbel_softmax(rng, x, hard=True),
        "categorical": lambda rng: lambda x: random.categorical(rng, x, 4),
        "poisson": lambda rng: lambda x: random.poisson(rng, x, (2, 3)),
        "permutation": lambda rng: lambda x: random.permutation(rng, x),
        "choice": lambda rng: lambda x: random.choice(rng, x, 5),
    }
    for name, function in functions.items():
        rng, again = generator(), generator()
        found = gt.vmap(function(rng))(alpha)
        expected = np.stack([function(again)(row) for row in alpha])
        np.testing.assert_allclose(found, expected, rtol=1e-13, err_msg=name)
    weighted = gt.vmap(lambda p: random.choice(generator(), 3, 5, p=p))(p)
    assert weighted.shape == (2, 5)


def test_vmap_over_something_else_shares_the_draw() -> None:
    """A draw whose parameters are the same for all examples is made once, and is the same for all of them."""
    rng = generator()
    found = gt.vmap(lambda x: x * 0 + random.normal(rng, size=2))(np.zeros((3, 2)))
    assert found.tolist() == [generator().normal(size=2).tolist()] * 3
    own = gt.vmap(lambda x: random.normal(generator(), 0 * x))(np.zeros((3, 2)))
    assert own.tolist() == generator().normal(size=(3, 2)).tolist()


def test_nested_vmap() -> None:
    """Two levels of examples draw what two nested loops draw."""
    a = np.array([[1.0, 2.0, 3.0], [0.5, 4.0, 1.0]])
    rng, again = generator(), generator()
    found = gt.vmap(gt.vmap(lambda a: random.gamma(rng, a, size=2)))(a)
    np.testing.assert_array_equal(found, [[random.gamma(again, x, size=2) for x in row] for row in a])


# -- what is refused


@pytest.mark.parametrize("rng", [None, 0, np.random.RandomState(0), np.random, "seed"])
@pytest.mark.parametrize("name", [name for name in random.__all__ if name != "ParameterError"])
def test_a_generator_has_to_be_given(name: str, rng: Any) -> None:
    """Nothing but a generator of NumPy's will do as the first argument; the error shows how to make one."""
    arguments = {"multivariate_normal": ([0.0], [[1.0]]), "binomial": (3, 0.5), "negative_binomial": (3, 0.5)}
    single: Any = {"dirichlet": [1.0], "categorical": [1.0], "gumbel_softmax": [1.0], "integers": 3, "choice": 3}
    values = arguments.get(name, (single.get(name, 0.5),) if name != "permutation" else (3,))
    if name == "beta":
        values = (0.5, 0.5)
    with pytest.raises(gt.OperandError, match=r"np\.random\.default_rng") as caught:
        getattr(random, name)(rng, *values)
    assert f"random.{name}: rng is" in str(caught.value)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda rng: random.normal(rng, 0.0, -1.0), "normal: scale is -1.0, and has to be at least 0"),
        (lambda rng: random.laplace(rng, 0.0, [1.0, -2.0]), r"laplace: scale is -2.0 at \(1,\)"),
        (lambda rng: random.uniform(rng, 2.0, [3.0, 1.0]), r"uniform: high - low is -1.0 at \(1,\)"),
        (lambda rng: random.gamma(rng, -0.5), "gamma: shape is -0.5"),
        (lambda rng: random.gamma(rng, 0.5, gt.tensor(-1.0, requires_grad=True)), "gamma: scale is -1.0"),
        (lambda rng: random.beta(rng, 0.0, 1.0), "beta: a is 0.0, and has to be above 0"),
        (lambda rng: random.student_t(rng, 0.0), "student_t: df is 0.0"),
        (lambda rng: random.dirichlet(rng, [1.0, 0.0]), r"dirichlet: alpha is 0.0 at \(1,\)"),
        (lambda rng: random.weibull(rng, -1.0), "weibull: a is -1.0"),
        (lambda rng: random.bernoulli(rng, 1.5), "bernoulli: p is 1.5, and has to be between 0 and 1"),
        (lambda rng: random.poisson(rng, -1.0), "poisson: lam is -1.0"),
        (lambda rng: random.gumbel_softmax(rng, [0.0, 1.0], 0.0), "gumbel_softmax: temperature is 0.0"),
        (lambda rng: gt.vmap(lambda s: random.normal(rng, 0.0, s))(np.array([1.0, -1.0])), r"scale is -1.0 at \(1,\)"),
    ],
)
def test_parameters_that_no_distribution_has(call: Any, problem: str) -> None:
    """A negative scale and its like are refused, naming the parameter, the element and what it has to be."""
    with pytest.raises(ParameterError, match=problem) as caught:
        call(generator())
    assert isinstance(caught.value, ValueError)
    assert "fix: " in str(caught.value)


@pytest.mark.parametrize(
    ("call", "kind", "problem"),
    [
        (lambda rng: random.normal(rng, np.zeros(3), np.ones(2)), gt.ShapeError, r"shapes \(3,\) and \(2,\)"),
        (lambda rng: random.normal(rng, np.zeros(3), 1.0, size=2), gt.ShapeError, "size=2, and parameters of shapes"),
        (lambda rng: random.gamma(rng, np.ones(3), size=()), gt.ShapeError, r"size=\(\)"),
        (lambda rng: random.normal(rng, size=-1), gt.ShapeError, "size=-1"),
        (lambda rng: random.normal(rng, size=1.5), gt.OperandError, "size=1.5"),
        (lambda rng: random.normal(rng, 1j), gt.OperandError, "complex128"),
        (lambda rng: random.dirichlet(rng, 1.0), gt.ShapeError, r"alpha of shape \(\)"),
        (lambda rng: random.categorical(rng, 1.0), gt.ShapeError, r"logits of shape \(\)"),
        (lambda rng: random.gumbel_softmax(rng, 1.0), gt.ShapeError, r"logits of shape \(\)"),
        (lambda rng: random.gumbel_softmax(rng, [1.0, 2.0], axis=1), gt.AxisError, "axis 1"),
        (lambda rng: random.multivariate_normal(rng, [0.0]), gt.OperandError, "neither of cov and cholesky"),
        (lambda rng: random.multivariate_normal(rng, [0.0], [[1.0]], cholesky=[[1.0]]), gt.OperandError, "both of"),
        (lambda rng: random.multivariate_normal(rng, [0.0], np.eye(2)), gt.ShapeError, r"\(1,\) and .* \(2, 2\)"),
        (lambda rng: random.multivariate_normal(rng, [0.0], [[-1.0]]), gt.LinearAlgebraError, "not positive definite"),
        (lambda rng: random.integers(rng, 1.5), gt.OperandError, "bounds of dtype float64"),
        (lambda rng: random.choice(rng, 3, p=[0.5, 0.5]), gt.ShapeError, r"p of shape \(2,\) for 3 things"),
        (lambda rng: random.choice(rng, 3, 5, replace=False), gt.ShapeError, "larger sample"),
    ],
)
def test_wrong_shapes_and_arguments(call: Any, kind: type[Exception], problem: str) -> None:
    """Shapes that do not fit and arguments of the wrong kind are refused with the shapes involved."""
    with pytest.raises(kind, match=problem):
        call(generator())


def test_numpys_own_methods_refuse_tracked_tensors() -> None:
    """`rng.normal(x)` would lose the gradient: NumPy is refused the array, of one number too."""
    for shape in ((), (2,)):
        x = gt.tensor(np.ones(shape), requires_grad=True)
        for call in (lambda rng, x=x: rng.normal(x), lambda rng, x=x: rng.gamma(x), lambda rng, x=x: rng.poisson(x)):
            with pytest.raises(gt.DetachError):
                call(generator())


@pytest.mark.parametrize("name", random.__all__)
def test_examples_run(name: str) -> None:
    """Every public name explains itself with an example that gives what it says."""
    test = doctest.DocTestParser().get_doctest(getattr(random, name).__doc__ or "", {}, name, None, None)
    assert len(test.examples) >= 2
    report: list[str] = []
    assert doctest.DocTestRunner(verbose=False).run(test, out=report.append).failed == 0, "".join(report)
