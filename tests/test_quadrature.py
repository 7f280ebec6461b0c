"""gt.quad and gt.quadrature: SciPy's values, and derivatives by limits and arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

import gradtape as gt


def fading(x: Any, rate: Any) -> Any:
    return np.exp(-rate * x)


def integral(a: Any, b: Any, rate: Any) -> Any:
    return gt.quad(fading, a, b, args=(rate,)).value


def closed(a: Any, b: Any, rate: Any) -> Any:
    return (np.exp(-rate * a) - np.exp(-rate * b)) / rate


AT = (0.1, 1.0, 2.0)


def test_value_and_error_as_scipy() -> None:
    """Value and error are what scipy.integrate.quad returns, in the same order."""
    assert tuple(gt.quad(fading, 0.1, 1.0, args=(2.0,))) == integrate.quad(fading, 0.1, 1.0, args=(2.0,))
    assert tuple(gt.quad(np.cos, 0, 1)) == integrate.quad(np.cos, 0, 1)


def test_gradients_by_limits_and_arguments() -> None:
    """Leibniz' rule in both modes."""
    found = gt.grad(integral, argnums=(0, 1, 2))(*AT)
    np.testing.assert_allclose(found, gt.grad(closed, argnums=(0, 1, 2))(*AT), rtol=1e-10)
    ones = (1.0, 1.0, 1.0)
    np.testing.assert_allclose(gt.jvp(integral, AT, ones)[1], gt.jvp(closed, AT, ones)[1], rtol=1e-10)


def test_second_derivatives() -> None:
    """The Hessian by all of them is that of the closed form."""
    found = gt.hessian(lambda v: integral(v[0], v[1], v[2]))(np.array(AT))
    np.testing.assert_allclose(found, gt.hessian(lambda v: closed(v[0], v[1], v[2]))(np.array(AT)), atol=1e-10)


def test_gradcheck_passes() -> None:
    """Reverse and forward mode agree with differences."""
    gt.gradcheck(integral, *AT)


def test_nested_arguments_and_infinite_limits() -> None:
    """Gaussian integrals over the whole line, by a dictionary of parameters."""

    def bell(x: Any, p: Any) -> Any:
        return p["height"] * np.exp(-np.sum(p["widths"]) * x**2)

    p = {"height": 2.0, "widths": np.array([1.0, 0.5])}
    found = gt.grad(lambda p: gt.quad(bell, -np.inf, np.inf, args=(p,)).value)(p)
    exact = gt.grad(lambda p: p["height"] * np.sqrt(np.pi / np.sum(p["widths"])))(p)
    np.testing.assert_allclose(found["height"], exact["height"], rtol=1e-7)
    np.testing.assert_allclose(found["widths"], exact["widths"], rtol=1e-7)


def test_infinite_limits_do_not_move() -> None:
    """The derivative by an infinite limit is zero, and a batch may have both kinds."""
    limits = np.array([1.0, 2.0, np.inf])
    found = gt.vmap(gt.grad(lambda b: integral(0.0, b, 2.0)))(limits)
    np.testing.assert_allclose(found, np.exp(-2.0 * limits), atol=1e-12)


def test_batches() -> None:
    """vmap integrates example by example, values and gradients."""
    rates = np.array([1.0, 2.0, 4.0])
    np.testing.assert_allclose(gt.vmap(lambda k: integral(0.0, 1.0, k))(rates), [closed(0.0, 1.0, k) for k in rates])
    slopes = [gt.grad(closed, argnums=2)(0.0, 1.0, k) for k in rates]
    np.testing.assert_allclose(gt.vmap(gt.grad(lambda k: integral(0.0, 1.0, k)))(rates), slopes)


def test_compiled() -> None:
    """A compiled gradient integrates anew in every call."""
    compiled = gt.jit(gt.grad(lambda k: integral(0.0, 1.0, k)))
    for k in (1.0, 2.0):
        np.testing.assert_allclose(compiled(np.float64(k)), gt.grad(closed, argnums=2)(0.0, 1.0, k))
    assert compiled.stats.traces == 1


def test_integrable_singularities() -> None:
    """An integrand that is infinite at a limit which does not move has exact derivatives by its arguments."""
    power = lambda s: gt.quad(lambda x, s: x ** (-s), 0.0, 1.0, args=(s,)).value
    np.testing.assert_allclose(gt.grad(power)(0.5), 4.0, rtol=1e-7)


def test_points_of_discontinuity() -> None:
    """`points` are passed on, for gradients by several arguments too."""

    def step(x: Any, p: Any) -> Any:
        return p[0] * np.where(x > 0.3, 1.0, 0.0) + p[1] * x

    found = gt.grad(lambda p: gt.quad(step, 0.0, 1.0, args=(p,), points=[0.3]).value)(np.array([2.0, 3.0]))
    np.testing.assert_allclose(found, [0.7, 0.5], rtol=1e-12)


def test_precision_is_kept() -> None:
    """float32 arguments have float32 integrals and derivatives."""
    gradient = gt.grad(lambda k: gt.quad(fading, np.float32(0), np.float32(1), args=(k,)).value)(np.float32(2.0))
    assert gradient.dtype == np.float32


def test_doubtful_integrals_warn_as_scipy() -> None:
    """An integral that diverges gets SciPy's own class of warning, at the line that asked for it."""
    with pytest.warns(integrate.IntegrationWarning, match=r"gt\.quad") as caught:
        gt.quad(lambda x: 1.0 / x, 0.0, 1.0)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: gt.quad(3.0, 0, 1), gt.OperandError, "got a float"),
        (lambda: gt.quad(lambda x: np.ones(2), 0, 1), gt.ShapeError, "shape (2,)"),
        (lambda: gt.quad(lambda x: 1j * x, 0, 1), gt.DtypeError, "complex128"),
        (lambda: gt.quad(lambda x: x, [0, 1], 1), gt.ShapeError, "a has shape (2,)"),
        (lambda: gt.quad(lambda x: x, 0, np.nan), gt.NumericsError, "nan"),
        (lambda: gt.quad(fading, 0, np.inf, args=(1.0,), points=[0.5]), gt.OperandError, "points="),
        (
            lambda: gt.grad(lambda a: gt.quad(lambda x: x * a, 0, 1).value)(2.0),
            gt.DetachError,
            "not one of its arguments",
        ),
        (lambda: gt.quadrature.fixed(lambda x: 1.0, 0, 1), gt.ShapeError, "shape () for 5 points"),
        (lambda: gt.quadrature.fixed(np.sin, 0, np.inf), gt.ShapeError, "b is infinite"),
        (lambda: gt.quadrature.fixed(np.sin, [0.0], 1), gt.ShapeError, "a is of shape (1,)"),
        (lambda: gt.quadrature.fixed(np.sin, 0, 1, n=0), gt.OperandError, "n=0"),
        (lambda: gt.quadrature.simpson(np.zeros(0)), gt.ShapeError, "no points"),
        (lambda: gt.quadrature.simpson(np.zeros(3), x=np.zeros(4)), gt.ShapeError, "3 points along the axis, and x 4"),
    ],
)
def test_mistakes_are_explained(call: Any, error: type[Exception], says: str) -> None:
    """Integrands, limits and options that cannot be are refused in words."""
    with pytest.raises(error) as caught:
        call()
    assert says in " ".join(str(caught.value).split())


@pytest.mark.parametrize("n", [1, 2, 5, 20])
def test_gauss_rule_is_exact_for_polynomials(n: int) -> None:
    """n points integrate every polynomial of degree 2 n - 1, and SciPy's fixed_quad says the same."""
    power = 2 * n - 1
    found = gt.quadrature.fixed(lambda x: x**power, 0.0, 1.5, n=n)
    np.testing.assert_allclose(found, 1.5 ** (power + 1) / (power + 1), rtol=1e-12)
    np.testing.assert_allclose(found, integrate.fixed_quad(lambda x: x**power, 0.0, 1.5, n=n)[0], rtol=1e-12)


def test_gauss_rule_is_differentiated_through() -> None:
    """Limits, arguments and several integrals at once, checked in every mode."""
    gt.gradcheck(
        lambda a, b, k: gt.quadrature.fixed(lambda x, k: gt.stack([np.exp(-k * x), np.sin(k * x)]), a, b, (k,), n=9),
        *AT,
    )


@given(st.integers(2, 12), st.integers(-2, 1), st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_simpson_as_scipy(count: int, axis: int, seed: int) -> None:
    """Any number of points, along any axis, at equal or unequal distances."""
    rng = np.random.default_rng(seed)
    shape = (count, 3) if axis in (-2, 0) else (3, count)
    y, x = rng.normal(size=shape), np.cumsum(rng.uniform(0.1, 1.0, count))
    found = gt.quadrature.simpson(y, x=x, axis=axis)
    np.testing.assert_allclose(found, integrate.simpson(y, x=x, axis=axis), atol=1e-12)
    found = gt.quadrature.simpson(y, dx=0.3, axis=axis)
    np.testing.assert_allclose(found, integrate.simpson(y, dx=0.3, axis=axis), atol=1e-12)


@pytest.mark.parametrize("count", [1, 2, 5, 6])
def test_simpson_can_be_differentiated(count: int) -> None:
    """By the values and by the points."""
    rng = np.random.default_rng(count)
    points = np.cumsum(rng.uniform(0.5, 1.0, count))
    if count == 1:
        assert gt.grad(lambda y: gt.quadrature.simpson(y))(np.ones(1)).tolist() == [0.0]
    else:
        gt.gradcheck(lambda y, x: gt.quadrature.simpson(y, x=x), rng.normal(size=count), points)


def test_trapezoid_is_there_too() -> None:
    """The rule that NumPy has is found beside the others."""
    assert gt.quadrature.trapezoid is gt.trapezoid


def test_an_integrand_reads_arrays_as_they_were_at_the_call() -> None:
    """What it reads is changed in place before the derivative is computed, which is that of before."""
    factor = np.ones(1)

    def total(a: Any) -> Any:
        factor[:] = 1.0
        value = gt.quad(lambda x, a: np.cos(a * x) * factor[0], 0.0, 1.0, args=(a,)).value
        factor[:] = 2.0
        return value

    exact = np.cos(1.2) / 1.2 - np.sin(1.2) / 1.2**2  # of sin(a) / a
    assert abs(gt.grad(total)(1.2) - exact) < 1e-9


def test_an_integrand_that_has_changed_is_refused() -> None:
    """What it reads is not the same when the derivative is computed: an error, and not a wrong number."""
    factor = 1.0

    def total(a: Any) -> Any:
        nonlocal factor
        value = gt.quad(integrand, 0.0, 1.0, args=(a,)).value
        factor = 2.0
        return value

    def integrand(x: Any, a: Any) -> Any:
        nonlocal factor
        factor = factor * 1.0
        return np.cos(a * x) * factor

    with pytest.raises(gt.RuleError, match=r"gt\.quad: the integrand was called again"):
        gt.grad(total)(1.2)
