"""The numbers at the edges: ties, bounds, zeros, infinities, and what complex gradients mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt

from .cases import assert_close, central_difference


def gradient(f: Callable[..., Any], *values: Any) -> list[Any]:
    """The gradients of the sum of `f`, as arrays."""
    arrays = [np.asarray(v) if np.iscomplexobj(v) else np.asarray(v, float) for v in values]
    result, pull_back = gt.vjp(f, *arrays)
    return list(pull_back(np.ones_like(result)))


def same(actual: Any, expected: Any) -> None:
    np.testing.assert_array_equal(actual, np.asarray(expected))


# -- ties and bounds


@pytest.mark.parametrize("f", [gt.maximum, gt.minimum, gt.fmax, gt.fmin, np.maximum, np.minimum])
def test_tied_elements_share_one_half(f: Any) -> None:
    """Where both operands are the extreme one, each gets half of the gradient."""
    left, right = gradient(f, [1.0, 2.0], [1.0, 2.0])
    same(left, [0.5, 0.5])
    same(right, [0.5, 0.5])


def test_maximum_with_zero_at_zero() -> None:
    """maximum(x, 0) at 0 has slope one half, the middle of its subgradients by ties."""
    (slope,) = gradient(lambda x: gt.maximum(x, 0.0), [0.0, 1.0, -1.0])
    same(slope, [0.5, 1.0, 0.0])


def test_fmax_ignores_nan() -> None:
    """Next to nan the other operand is chosen and has all of the gradient."""
    left, right = gradient(gt.fmax, [np.nan, 2.0], [1.0, np.nan])
    same(left, [0.0, 1.0])
    same(right, [1.0, 0.0])


@pytest.mark.parametrize("f", [gt.max, gt.min, np.max])
def test_ties_of_a_reduction_share_equally(f: Any) -> None:
    """n tied elements get 1/n of the gradient each."""
    same(gradient(f, [2.0, 2.0, 2.0, 2.0])[0], [0.25] * 4)


def test_ties_are_counted_in_each_slice() -> None:
    """Along an axis, ties are shared among the elements of one slice."""
    (slope,) = gradient(lambda x: gt.max(x, axis=1), [[1.0, 3.0, 3.0], [5.0, 4.0, 0.0]])
    same(slope, [[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]])


def test_clip_at_a_bound_is_inside() -> None:
    """The slope of clip is 1 at its bounds, 0 outside; a bound that limits gets the gradient itself."""
    x, low, high = gradient(gt.clip, [-2.0, -1.0, 0.0, 1.0, 2.0], -1.0, 1.0)
    same(x, [0.0, 1.0, 1.0, 1.0, 0.0])
    assert (low, high) == (1.0, 1.0)


def test_clip_of_integers_stays_integer() -> None:
    """One bound left out does not turn integers into floating point numbers."""
    clipped = gt.clip(gt.tensor([-5, 5, 50]), None, 7)
    assert clipped.dtype == np.int64
    same(clipped.numpy(), [-5, 5, 7])
    assert gt.clip(gt.tensor([-5, 5]), 0).dtype == np.int64


def test_clip_without_bounds_is_the_identity() -> None:
    """Without bounds nothing is limited and all of the gradient passes."""
    same(gradient(lambda x: gt.clip(x), [1.0, 2.0])[0], [1.0, 1.0])


@pytest.mark.parametrize("f", [gt.absolute, gt.fabs, gt.relu, gt.norm, abs, np.abs])
def test_kinks_at_zero_have_slope_zero(f: Any) -> None:
    """abs, relu and the norm have the smallest of their subgradients at 0: zero."""
    same(gradient(f, [0.0])[0], [0.0])


@pytest.mark.parametrize("order", [None, 1, 2, 3, 2.5])
def test_norm_of_zeros_has_no_slope(order: Any) -> None:
    """Of zeros every vector norm has gradient zero, not nan."""
    same(gradient(lambda x: gt.norm(x, order), np.zeros(3))[0], np.zeros(3))


def test_norm_of_zeros_to_second_order() -> None:
    """Differentiated again, the norm is still finite at zero."""
    hessian = gt.hessian(lambda x: gt.norm(x))(np.zeros(2))
    assert np.all(np.isfinite(hessian))


def test_std_of_equal_elements_has_no_slope() -> None:
    """Where all elements are equal the standard deviation has gradient zero, not nan."""
    same(gradient(gt.std, [2.0, 2.0, 2.0])[0], [0.0, 0.0, 0.0])


# -- zeros, infinities, overflow


def test_sqrt_at_zero_is_infinitely_steep() -> None:
    """The slope of sqrt at 0 is inf: there is no other answer."""
    same(gradient(gt.sqrt, [0.0])[0], [np.inf])


@pytest.mark.parametrize(
    ("exponent", "slope"), [(0, 0.0), (0.0, 0.0), (1, 1.0), (1.0, 1.0), (2, 0.0), (2.0, 0.0), (0.5, np.inf), (3, 0.0)]
)
def test_power_at_zero(exponent: float, slope: float) -> None:
    """x ** p at x = 0 has the slope p x^(p-1), and 0 for p = 0; numbers, arrays and tensors as exponents agree."""
    same(gradient(lambda x: x**exponent, [0.0])[0], [slope])
    same(gradient(lambda x: x ** np.array([exponent]), [0.0])[0], [slope])
    same(gradient(lambda x: np.power(x, gt.tensor([exponent])), [0.0])[0], [slope])


def test_power_zero_exponent_slope() -> None:
    """d(x^y)/dy is 0 at x = 0, where 0 log(0) has that limit."""
    base, exponent = gradient(gt.power, [0.0, 0.0, 2.0], [2.0, 0.0, 0.0])
    same(base, [0.0, 0.0, 0.0])
    same(exponent, [0.0, 0.0, np.log(2.0)])


def test_power_mixed_derivative_at_exponent_zero() -> None:
    """d/dy of y x^(y-1) at y = 0 is 1 / x, which no shortcut for y = 0 may hide."""
    slope = lambda y: gt.vjp(gt.power, np.array(2.0), y)[1](np.array(1.0))[0]
    assert gradient(slope, 0.0)[0] == pytest.approx(0.5)


def test_powers_of_negative_numbers() -> None:
    """Whole powers of negative numbers have finite slopes."""
    same(gradient(lambda x: x**3, [-2.0])[0], [12.0])
    same(gradient(lambda x: x**-1, [-2.0])[0], [-0.25])


def test_prod_with_zeros_is_exact() -> None:
    """With one zero the gradient is the product of the others there; with two it is zero everywhere."""
    same(gradient(gt.prod, [0.0, 2.0, 3.0])[0], [6.0, 0.0, 0.0])
    same(gradient(gt.prod, [0.0, 0.0, 3.0])[0], [0.0, 0.0, 0.0])


def test_prod_with_two_zeros_to_second_order() -> None:
    """The mixed derivative of two zeros is the product of the rest."""
    hessian = gt.hessian(gt.prod)(np.array([0.0, 0.0, 3.0]))
    same(hessian, [[0.0, 3.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]])


def test_cumprod_with_zeros_to_second_order() -> None:
    """The Hessian of a sum of running products is exact with zeros among the factors."""
    x = np.array([2.0, 0.0, 0.0, 3.0])
    hessian = gt.hessian(lambda x: gt.sum(gt.cumprod(x)))(x)
    loop = lambda x: x[0] + x[0] * x[1] + x[0] * x[1] * x[2] + x[0] * x[1] * x[2] * x[3]
    same(hessian, gt.hessian(loop)(x))


def test_tanh_far_out() -> None:
    """tanh at 1000 is flat, and no overflow is on the way."""
    same(gradient(gt.tanh, [1000.0, -1000.0])[0], [0.0, 0.0])


def test_sinc_near_zero() -> None:
    """sinc and its first two derivatives are smooth through 0: 1, 0, -pi^2/3."""
    x = np.array([0.0, 1e-9, 1e-4, 2.9e-3, 3.1e-3])
    first = gradient(gt.sinc, x)[0]
    np.testing.assert_allclose(first, -(np.pi**2) / 3 * x + np.pi**4 / 30 * x**3, rtol=1e-9)
    second = gradient(lambda x: gt.vjp(gt.sinc, x)[1](np.ones(5))[0], x)[0]
    np.testing.assert_allclose(second, -(np.pi**2) / 3 + np.pi**4 / 10 * x**2, rtol=1e-6)


def test_logaddexp_of_nothing() -> None:
    """logaddexp of two -inf has no slope, where a difference of infinities would be nan."""
    left, right = gradient(gt.logaddexp, [-np.inf, -np.inf], [-np.inf, 1.0])
    same(left, [0.0, 0.0])
    same(right, [0.0, 1.0])


# -- softmax family


def test_logsumexp_does_not_overflow() -> None:
    """Large numbers are taken off before exp."""
    assert gt.logsumexp(np.array([1000.0, 1000.0])) == pytest.approx(1000.0 + np.log(2.0))
    np.testing.assert_allclose(gradient(gt.logsumexp, [1000.0, 1000.0])[0], [0.5, 0.5])


def test_logsumexp_of_nothing() -> None:
    """Of -inf alone it is -inf, and its gradient zero."""
    x = np.full(3, -np.inf)
    assert gt.logsumexp(x) == -np.inf
    same(gradient(gt.logsumexp, x)[0], [0.0, 0.0, 0.0])


def test_logsumexp_of_no_elements() -> None:
    """Of no elements it is -inf, the logarithm of an empty sum."""
    assert gt.logsumexp(np.zeros(0)) == -np.inf


def test_softmax_of_extremes() -> None:
    """Differences of thousands saturate without nan, in value and in gradient."""
    x = np.array([1000.0, 0.0, -1000.0])
    same(gt.softmax(x), [1.0, 0.0, 0.0])
    same(gradient(lambda x: gt.softmax(x)[0], x)[0], [0.0, 0.0, 0.0])


def test_softmax_with_masked_elements() -> None:
    """An element at -inf has probability zero and passes no gradient."""
    x = np.array([0.0, -np.inf, 0.0])
    same(gt.softmax(x), [0.5, 0.0, 0.5])
    same(gradient(lambda x: gt.softmax(x)[0], x)[0], [0.25, 0.0, -0.25])


def test_log_softmax_is_exact_for_large_differences() -> None:
    """The logarithm of a vanishing probability is the difference itself."""
    x = np.array([0.0, -1000.0])
    same(gt.log_softmax(x), [0.0, -1000.0])
    same(gradient(lambda x: gt.log_softmax(x)[1], x)[0], [-1.0, 1.0])


@pytest.mark.parametrize("f", [gt.softmax, gt.log_softmax, gt.logsumexp])
def test_softmax_family_takes_integers(f: Any) -> None:
    """Integers are taken as floating point numbers."""
    assert_close([f(gt.tensor([1, 2, 3])).numpy()], [f(np.array([1.0, 2.0, 3.0]))], 1e-15)


@pytest.mark.parametrize("axis", [0, 1, -1, (0, 1), None])
def test_softmax_sums_to_one(axis: Any) -> None:
    """Along the axes given the probabilities sum to 1, and log_softmax is their logarithm."""
    x = np.random.default_rng(0).normal(size=(3, 4))
    probabilities = gt.softmax(x, axis=axis)
    np.testing.assert_allclose(probabilities.sum(axis=axis), 1.0)
    np.testing.assert_allclose(gt.log_softmax(x, axis=axis), np.log(probabilities))
    reduced = gt.logsumexp(x, axis=axis, keepdims=True)
    np.testing.assert_allclose(reduced, np.log(np.exp(x).sum(axis=axis, keepdims=True)))


def test_sigmoid_and_softplus_far_out() -> None:
    """sigmoid saturates and softplus becomes linear, without overflow."""
    same(gradient(gt.sigmoid, [1000.0, -1000.0])[0], [0.0, 0.0])
    same(gradient(gt.softplus, [1000.0, -1000.0])[0], [1.0, 0.0])
    same(gt.softplus(np.array([1000.0, -1000.0])), [1000.0, 0.0])


# -- where


def test_where_keeps_the_branch_not_taken_out() -> None:
    """The branch that was not taken gets zeros, and a number on both sides needs no tensor."""
    condition = np.array([True, False, True])
    x, y = gradient(lambda x, y: gt.where(condition, x, y), np.ones(3), np.ones(3))
    same(x, [1.0, 0.0, 1.0])
    same(y, [0.0, 1.0, 0.0])


def test_where_broadcasts_its_branches() -> None:
    """A branch that was stretched collects the sum of its copies."""
    condition = np.array([[True, False, True], [True, True, True]])
    x, y = gradient(lambda x, y: gt.where(condition, x, y), np.ones((2, 1)), 1.0)
    same(x, [[2.0], [3.0]])
    assert y == 1.0


def test_where_with_a_condition_alone_finds_positions() -> None:
    """where(condition) is nonzero(condition), as in NumPy."""
    (found,) = gt.where(gt.tensor([False, True]))
    same(found, [1])


# -- complex numbers: the gradient is df/da + i df/db, as PyTorch has it

Z = np.array([1.0 + 2.0j, -0.5 + 0.25j])


def test_absolute_square_points_away_from_zero() -> None:
    """The gradient of |z|^2 is 2z."""
    (slope,) = gradient(lambda z: gt.absolute(z) ** 2, Z)
    np.testing.assert_allclose(slope, 2 * Z)


def test_absolute_of_complex_numbers() -> None:
    """The gradient of |z| is z/|z|, and 0 at 0."""
    (slope,) = gradient(gt.absolute, np.append(Z, 0.0))
    np.testing.assert_allclose(slope, np.append(Z / np.abs(Z), 0.0))


def test_absolute_of_complex_numbers_to_second_order() -> None:
    """|z| is curved across its direction: the gradient turns with z."""
    g = lambda z: gt.vjp(gt.absolute, z)[1](np.ones(2))[0]
    direction = np.array([1.0j, 1.0 - 1.0j])
    (expected,) = central_difference(g, [Z], [direction], 1e-6)
    np.testing.assert_allclose(gt.jvp(g, (Z,), (direction,))[1], expected, rtol=1e-6)
    np.testing.assert_allclose(gt.vjp(g, Z)[1](direction)[0], expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (gt.real, np.array([1.0, 1.0])),
        (gt.imag, np.array([1.0j, 1.0j])),
        (lambda z: gt.real(gt.conjugate(z)), np.array([1.0, 1.0])),
        (lambda z: gt.imag(gt.conjugate(z)), np.array([-1.0j, -1.0j])),
        (lambda z: gt.real(z * (3.0 + 4.0j)), np.array([3.0 - 4.0j, 3.0 - 4.0j])),
        (lambda z: gt.real(gt.exp(z)), np.conj(np.exp(Z))),
        (lambda z: gt.real(1.0 / z), np.conj(-1.0 / Z**2)),
        (lambda z: gt.real(z**2), np.conj(2 * Z)),
        (lambda z: gt.angle(z), 1.0j * Z / np.abs(Z) ** 2),
    ],
    ids=["real", "imag", "real conj", "imag conj", "multiply", "exp", "divide", "power", "angle"],
)
def test_complex_rules_by_hand(f: Any, expected: Any) -> None:
    """Rules of holomorphic functions are conjugated; those of parts have the directions of their axes."""
    np.testing.assert_allclose(gradient(f, Z)[0], expected, rtol=1e-14)


def test_complex_matmul() -> None:
    """For L = Re(sum(A z)) the gradient of z is A^H 1, and that of A is 1 z^H."""
    a = np.array([[1.0 + 1.0j, 2.0], [0.5j, -1.0 + 3.0j]])
    of_a, of_z = gradient(lambda a, z: gt.real(gt.matmul(a, z)), a, Z)
    np.testing.assert_allclose(of_z, a.conj().T @ np.ones(2))
    np.testing.assert_allclose(of_a, np.outer(np.ones(2), Z.conj()))


def test_real_inputs_of_complex_functions_have_real_gradients() -> None:
    """What is real has a real gradient: the part of it along the real axis."""
    (slope,) = gradient(lambda x: gt.real(x * (3.0 + 4.0j)), [1.0, 2.0])
    assert slope.dtype == np.float64
    same(slope, [3.0, 3.0])


def test_sign_of_complex_numbers_turns_with_them() -> None:
    """z / |z| is not flat, so it has a derivative; at 0 it is 0."""
    assert gt.gradcheck(np.sign, np.array([1 + 2j, -1 - 0.5j]), order=2)
    same(gt.sign(gt.tensor([3j, 0j])), [1j, 0j])


# -- several results


def test_modf_passes_the_gradient_of_the_fraction() -> None:
    """The fractional part has slope 1, the integral part none."""
    x = np.array([1.25, -2.5])
    (fraction,) = gradient(lambda x: gt.modf(x)[0], x)
    same(fraction, [1.0, 1.0])
    (both,) = gradient(lambda x: np.modf(x)[0] * 3.0 + gt.modf(x)[1], x)
    same(both, [3.0, 3.0])


def test_nan_to_num_passes_the_finite_only() -> None:
    """What was replaced gets no gradient."""
    x = np.array([np.nan, np.inf, -np.inf, 2.0])
    same(gt.nan_to_num(x, nan=1.0, posinf=5.0, neginf=-5.0), [1.0, 5.0, -5.0, 2.0])
    same(gradient(lambda x: gt.nan_to_num(x), x)[0], [0.0, 0.0, 0.0, 1.0])


def test_median_of_nan_is_nan() -> None:
    """A nan among the elements is not sorted away; the slices without one have their median."""
    found = gt.median(np.array([[1.0, np.nan, 3.0], [1.0, 2.0, np.inf]]), axis=1)
    same(found, [np.nan, 2.0])
    same(gt.quantile(np.array([-np.inf, 0.0, np.inf]), [0.0, 0.5, 1.0]), [-np.inf, 0.0, np.inf])


def test_median_of_integers() -> None:
    """Of an even number of integers the middle is between two of them."""
    assert gt.median(gt.tensor([1, 2, 4, 9])).item() == 3.0


def test_sort_keeps_equal_elements_in_order() -> None:
    """Ties are sorted stably: the first of equal elements gets the gradient of the first place."""
    same(gradient(lambda x: gt.sort(x)[0], [2.0, 1.0, 1.0])[0], [0.0, 1.0, 0.0])
