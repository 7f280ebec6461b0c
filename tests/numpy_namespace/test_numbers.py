"""Elements and sums of tensors are numbers, as those of arrays of NumPy are: no arrays, and not written to."""

from __future__ import annotations

import decimal
import math
from fractions import Fraction
from typing import Any

import numpy
import pytest
import scipy.special

import gradtape as gt
import gradtape.numpy as np
from gradtape.errors import OperandError
from gradtape.scipy import special

X = numpy.array([0.7, 1.3, 2.1, 0.4, 1.9])


def answers(x: Any, into: list[Any], np: Any) -> Any:
    """Ask what arrays and numbers are."""
    values = (x, x[0], x.sum(), np.dot(x, x), x[0] * 2.0, np.array(x[0]), np.zeros(()), x[:1].reshape(()), *x)
    into.extend(isinstance(value, np.ndarray) for value in values)
    return x.sum()


def test_numbers_are_no_arrays() -> None:
    """`isinstance(x[0], np.ndarray)` is what it is in NumPy, eager, compiled and in batches."""
    expected: list[Any] = []
    answers(X, expected, numpy)
    for run in (gt.grad, lambda f: gt.jit(gt.grad(f)), lambda f: lambda x: gt.vmap(gt.grad(f))(x[None])):
        found: list[Any] = []
        run(lambda x, found=found: answers(x, found, np))(X)
        assert found == expected


@pytest.mark.parametrize("given", [2.0, numpy.float64(2.0), numpy.array(2.0)], ids=["float", "number", "array"])
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_arguments_that_are_numbers_are_not_written_to(given: Any, compiled: bool) -> None:
    """`x += 1` changes other names of an array without axes, and not those of a number."""

    def function(x: Any) -> Any:
        before = x
        x += 1.0
        return x * before

    expected = (9.0, 6.0) if isinstance(given, numpy.ndarray) else (6.0, 5.0)
    derivative = gt.value_and_grad(function)
    assert (gt.jit(derivative) if compiled else derivative)(given) == expected
    assert gt.jvp(function, (given,), (1.0,)) == expected


def test_methods_of_numbers() -> None:
    """`item` with an index, `is_integer`, `math.trunc`, and `round`, which gives whole numbers that count."""

    def function(x: Any) -> Any:
        table = x[:4].reshape(2, 2)
        assert (x.item(1), table.item(1, 0), table.item((0, 1)), table.item(-1)) == (1.3, 2.1, 1.3, 0.4)
        with pytest.raises(IndexError):
            x.item(9)
        assert not x[0].is_integer()
        assert (x[0] * 10.0).is_integer()
        with pytest.raises(AttributeError, match="is_integer"):
            x.is_integer()
        assert math.trunc(x[2]) == 2
        assert round(x[1], 1) == 1.3
        return sum(x[i] for i in range(round(x[2])))

    numpy.testing.assert_array_equal(gt.grad(function)(X), [1.0, 1.0, 0.0, 0.0, 0.0])


def test_fractions_and_decimals() -> None:
    """Fractions count as the numbers that they are, on both sides and in place; decimals are refused, as in NumPy."""
    third = Fraction(1, 3)

    def function(x: Any) -> Any:
        total = third * x[0] + x[1] / third - third + (x * third).sum()
        total *= third
        return total

    value, gradient = gt.value_and_grad(function)(X)
    numpy.testing.assert_allclose(value, (X[0] / 3 + X[1] * 3 - 1 / 3 + X.sum() / 3) / 3)
    numpy.testing.assert_allclose(gradient, numpy.array([2 / 3, 10 / 3, 1 / 3, 1 / 3, 1 / 3]) / 3)
    for bad in (lambda x: decimal.Decimal("0.5") * x, lambda x: x + decimal.Decimal("0.5")):
        with pytest.raises(OperandError, match=r"float\(number\)"):
            gt.grad(lambda x, bad=bad: bad(x).sum())(X)


def test_special_functions_are_ufuncs() -> None:
    """Functions of `gradtape.scipy.special` take `out=`, `where=` and `dtype=`, and have the methods of ufuncs."""
    mask = numpy.array([True, False, True, True, False])

    def function(x: Any) -> Any:
        values, masked, y = np.zeros(5), np.ones(5), x * 1.0
        assert special.gamma(x, out=values) is values
        special.erf(x, out=masked, where=mask)
        special.gammaln(y, y)
        sine, cosine = np.zeros(5), np.zeros(5)
        special.sici(x, out=(sine, cosine))
        table = special.xlogy.outer(x[:2], x[2:])
        return (values * masked * y + sine * cosine).sum() + table.sum() + special.expit(x, dtype=float).sum()

    def plain(x: Any) -> Any:
        masked = numpy.where(mask, scipy.special.erf(x), 1.0)
        sine, cosine = scipy.special.sici(x)
        table = scipy.special.xlogy(x[:2, None], x[None, 2:])
        products = scipy.special.gamma(x) * masked * scipy.special.gammaln(x) + sine * cosine
        return products.sum() + table.sum() + scipy.special.expit(x).sum()

    differences = [(plain(X + step) - plain(X - step)) / 2e-6 for step in 1e-6 * numpy.eye(5)]
    for run in (gt.value_and_grad(function), gt.jit(gt.value_and_grad(function))):
        value, gradient = run(X)
        numpy.testing.assert_allclose(value, plain(X))
        numpy.testing.assert_allclose(gradient, differences, rtol=1e-5)
    assert (special.gamma.nin, special.xlogy.nargs) == (1, 3)


def test_coefficients_of_polynomials_take_tensors() -> None:
    """`p[1] = x` of a polynomial that was made of numbers keeps the gradient, also beyond its degree."""

    def function(x: Any) -> Any:
        polynomial = np.poly1d([1.0, 2.0, 3.0])
        polynomial[1] = 2.0 * x[0]
        polynomial[4] = x[1] ** 2
        return polynomial(x[2])

    powers = X[2] ** numpy.arange(5)
    slope = 4 * X[1] ** 2 * powers[3] + 2 * powers[1] + 2 * X[0]
    expected = [2.0 * powers[1], 2.0 * X[1] * powers[4], slope, 0.0, 0.0]
    numpy.testing.assert_allclose(gt.grad(function)(X), expected)


def test_views_name_their_dtype() -> None:
    """`x.view(dtype=...)` is `x.view(...)`."""
    numpy.testing.assert_array_equal(gt.grad(lambda x: x.view(dtype=float)[0] * 3.0)(X), [3.0, 0.0, 0.0, 0.0, 0.0])
