"""The polynomial through given values, in the forms of Lagrange and of Newton, and rational functions of a series."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import interpolate as theirs

from gradtape.errors import OperandError, ShapeError
from gradtape.extend import Tensor, argument_error, is_tracked, messages, one_axis
from gradtape.mirror import holds_tensor
from gradtape.ops import concatenate, moveaxis, stack
from gradtape.ops import where as where_op
from gradtape.scipy.callbacks import stacked
from gradtape.scipy.interpolate.piecewise import known_numbers, original, picked, place_axes, value_of


class _Polynomial:
    """What both forms have in common: points, values with their axis first, and calls."""

    moving: tuple[Any, Any] | None = None
    """The points and values, if tensors are among them."""
    reads_values_later = False
    """Whether what is written to the values later is seen: if the form has no coefficients of its own."""
    given: tuple[Any, Any, int]
    """Points, values and the axis as they were given."""

    def _hold(self, name: str) -> None:
        """Check and keep what was given."""
        xi, yi, axis = self.given
        points, values = value_of(xi), value_of(yi)
        axis = one_axis(axis, len(values.shape))
        if len(points.shape) != 1 or points.shape[0] != values.shape[axis]:
            raise argument_error(
                ShapeError,
                f"scipy.interpolate.{name}: xi has shape {points.shape}, and yi {values.shape}, along its axis {axis}.",
                "a vector of points, and a value for each",
            )
        self.given = (xi, yi, axis)
        self.moving = (points, moveaxis(values if self.reads_values_later else values.copy(), axis, 0))

    @property
    def _parts(self) -> tuple[Any, Any]:
        if self.moving is not None:
            return self.moving
        xi, yi, axis = self.given
        return value_of(xi), moveaxis(value_of(yi), axis, 0)

    def _at(self, flat: Any, orders: int) -> list[Any]:
        """The values and derivatives of the orders below `orders` at a vector of points."""
        raise NotImplementedError

    def _placed(self, found: Any, given: Any) -> Any:
        axis = one_axis(self.given[2], len(self._parts[1].shape))
        return place_axes(found.reshape((*given.shape, *found.shape[1:])), len(given.shape), axis)

    def __call__(self, x: Any) -> Any:
        """The values at the points x."""
        if self.moving is None and not holds_tensor((x,)):
            return super().__call__(x)  # type: ignore[misc]
        given = value_of(x)
        return self._placed(self._at(given.reshape((-1,)), 1)[0], given)

    def derivative(self, x: Any, der: int = 1) -> Any:
        """The derivatives of order `der` at the points x."""
        if self.moving is None and not holds_tensor((x,)):
            return super().derivative(x, der)  # type: ignore[misc]
        given = value_of(x)
        return self._placed(self._at(given.reshape((-1,)), der + 1)[der], given)

    def derivatives(self, x: Any, der: Any = None) -> Any:
        """The derivatives of the orders below `der` at the points x, or of all orders, along a first axis."""
        if self.moving is None and not holds_tensor((x,)):
            return super().derivatives(x, der)  # type: ignore[misc]
        given = value_of(x)
        orders = self._parts[0].shape[0] if der is None else int(der)
        return stack([self._placed(found, given) for found in self._at(given.reshape((-1,)), orders)])


def _without_each(factors: Any) -> Any:
    """The products of all but one of the factors along the last axis: no division, so that factors may be zero."""
    ones = np.ones((*factors.shape[:-1], 1))
    before = np.cumprod(concatenate([ones, factors[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(concatenate([ones, factors[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    return before * after


def _weights(x: Any, scale: Any) -> Any:
    """1 over the product of the distances of each point from the others."""
    apart = (x[:, None] - x[None, :]) * scale + np.eye(x.shape[0])
    return 1.0 / np.prod(apart, axis=1)


class BarycentricInterpolator(_Polynomial, theirs.BarycentricInterpolator):  # type: ignore[misc]  # SciPy has no types
    """The polynomial through values, in Lagrange's form: by the points, the values and where it is evaluated.

    >>> import gradtape as gt
    >>> from gradtape.scipy.interpolate import BarycentricInterpolator
    >>> gt.grad(lambda y: BarycentricInterpolator([0.0, 1.0, 2.0], y)(0.5))(gt.tensor([1.0, 2.0, 5.0]))
    Tensor([ 0.375,  0.75 , -0.125])
    """

    reads_values_later = True

    @property
    def yi(self) -> Any:
        """The values, a row for each point."""
        if self.moving is None:
            return self.__dict__["yi"]
        return self.moving[1].reshape((self.moving[1].shape[0], -1))

    @yi.setter
    def yi(self, value: Any) -> None:
        if self.moving is None and not holds_tensor((value,)):
            self.__dict__["yi"] = value
        else:
            points, values = self._parts
            self.moving = (points, value_of(value).reshape(values.shape))

    def __init__(self, xi: Any, yi: Any = None, axis: int = 0, **options: Any) -> None:
        self.given, self.options = (xi, yi, axis), options
        weights = value_of(options.get("wi")) if holds_tensor((options.get("wi"),)) else None
        if isinstance(weights, Tensor) and is_tracked(weights):
            raise messages.tracked_parameter("scipy.interpolate.BarycentricInterpolator", "wi", weights.shape)
        if not holds_tensor((xi, yi)):
            theirs.BarycentricInterpolator.__init__(self, xi, yi, axis, **options)
        elif yi is None:
            raise argument_error(
                OperandError, "scipy.interpolate.BarycentricInterpolator: xi is a tensor without yi.", "yi, the values"
            )
        else:
            self._hold("BarycentricInterpolator")

    def set_yi(self, yi: Any, axis: Any = None) -> None:
        """Change the values."""
        xi, _, old = self.given
        self.given = (xi, yi, old if axis is None else axis)
        if self.moving is None and not holds_tensor((yi,)):
            super().set_yi(yi, axis)
        else:
            self._hold("BarycentricInterpolator")

    def add_xi(self, xi: Any, yi: Any = None) -> None:
        """Add points, with their values."""
        points, values, axis = self.given
        if self.moving is None and not holds_tensor((xi, yi)):
            super().add_xi(xi, yi)
        joined = None if yi is None or values is None else concatenate([value_of(values), value_of(yi)], axis=axis)
        self.given = (concatenate([value_of(points), np.atleast_1d(value_of(xi))]), joined, axis)
        if self.moving is not None or holds_tensor((xi, yi)):
            self._hold("BarycentricInterpolator")

    def _at(self, flat: Any, orders: int) -> list[Any]:
        x, y = self._parts
        known = known_numbers(x, "the points")
        scale = 4.0 / float(known.max() - known.min()) if len(known) > 1 else 1.0
        weights = _weights(x, scale)
        shares = weights * _without_each((flat[:, None] - x[None, :]) * scale)
        shares = shares / shares.sum(axis=1, keepdims=True)
        columns = y.reshape((y.shape[0], -1))
        if orders > 1:  # the values of the derivative at the points are a linear function of the values
            unit = np.eye(x.shape[0])
            quotients = weights[None, :] / weights[:, None] / (x[:, None] - x[None, :] + unit) * (1.0 - unit)
            matrix = quotients - quotients.sum(axis=1, keepdims=True) * unit
        found = []
        for order in range(orders):
            columns = matrix @ columns if order else columns
            found.append((shares @ columns).reshape((flat.shape[0], *y.shape[1:])))
        return found


class KroghInterpolator(_Polynomial, theirs.KroghInterpolator):  # type: ignore[misc]
    """The polynomial through values, and through derivatives where a point is given several times.

    >>> import gradtape as gt
    >>> from gradtape.scipy.interpolate import KroghInterpolator
    >>> gt.grad(lambda slope: KroghInterpolator([0.0, 0.0, 1.0], [0.0, slope, 1.0])(0.5))(gt.tensor(2.0))
    Tensor(0.25)
    """

    def __init__(self, xi: Any, yi: Any, axis: int = 0) -> None:
        self.given = (xi, yi, axis)
        if not holds_tensor((xi, yi)):
            theirs.KroghInterpolator.__init__(self, xi, yi, axis)
        else:
            self._hold("KroghInterpolator")

    def _at(self, flat: Any, orders: int) -> list[Any]:
        """Newton's form: divided differences, and of each point that is repeated its derivatives."""
        x, y = self._parts
        known = known_numbers(x, "the points")
        count = len(known)
        first = np.arange(count)  # where the points that are equal to each begin
        for index in range(1, count):
            if known[index] == known[index - 1]:
                first[index] = first[index - 1]
        column = (-1,) + (1,) * (len(y.shape) - 1)
        level = picked(y, first)
        differences = [level[0]]
        for order in range(1, count):
            width = x[order:] - x[:-order]
            is_same = (known[order:] == known[:-order]).reshape(column)
            given = picked(y, np.minimum(first[:-order] + order, count - 1)) / float(math.factorial(order))
            quotient = (level[1:] - level[:-1]) / where_op(is_same, 1.0, width.reshape(column))
            level = where_op(is_same, given, quotient)
            differences.append(level[0])
        found: list[Any] = [0.0 * flat.reshape(column) + differences[-1]]
        found += [0.0 * found[0] for _ in range(orders - 1)]
        for index in range(count - 2, -1, -1):
            move = (flat - x[index]).reshape(column)
            for order in range(orders - 1, 0, -1):
                found[order] = found[order] * move + found[order - 1]
            found[0] = found[0] * move + differences[index]
        return [each * float(math.factorial(order)) for order, each in enumerate(found)]


def _derivatives(made: Any, x: Any, der: Any) -> Any:
    if np.ndim(der) == 0:
        return made(x) if der == 0 else made.derivative(x, int(der))
    every = made.derivatives(x, max(int(order) for order in der) + 1)
    return stack([every[int(order)] for order in der])


@original.differentiated
def barycentric_interpolate(xi: Any, yi: Any, x: Any, axis: int = 0, *, der: Any = 0, rng: Any = None) -> Any:
    """The polynomial through the values yi at the points xi, or its derivatives, at the points x.

    >>> import gradtape as gt
    >>> from gradtape.scipy.interpolate import barycentric_interpolate
    >>> gt.grad(lambda x: barycentric_interpolate([0.0, 1.0, 2.0], [0.0, 1.0, 4.0], x))(gt.tensor(1.0))
    Tensor(2.)
    """
    return _derivatives(BarycentricInterpolator(xi, yi, axis), x, der)


@original.differentiated
def krogh_interpolate(xi: Any, yi: Any, x: Any, der: Any = 0, axis: int = 0) -> Any:
    """The same in Newton's form; a point that is repeated has derivatives for its further values."""
    return _derivatives(KroghInterpolator(xi, yi, axis), x, der)


@original.differentiated
def lagrange(x: Any, w: Any) -> Any:
    """The polynomial through the values w at the points x, as a `poly1d`.

    >>> import gradtape as gt
    >>> from gradtape.scipy.interpolate import lagrange
    >>> gt.grad(lambda y: lagrange([0.0, 1.0, 2.0], y)(3.0))(gt.tensor([0.0, 1.0, 4.0]))
    Tensor([ 1., -3.,  3.])
    """
    points, values = value_of(x), value_of(w)
    if len(points.shape) != 1 or points.shape != values.shape:
        raise argument_error(
            ShapeError,
            f"scipy.interpolate.lagrange: x has shape {points.shape}, and w {values.shape}.",
            "two vectors of the same length",
        )
    total: Any = 0.0
    for index, weight in enumerate(_weights(points, 1.0) * values):
        term = weight.reshape((1,))
        for other in range(points.shape[0]):
            if other != index:
                shifted = concatenate([np.zeros(1), -points[other] * term])
                term = concatenate([term, np.zeros(1)]) + shifted
        total = total + term
    return np.poly1d(total)


@original.differentiated
def pade(an: Any, m: int, n: int | None = None) -> tuple[Any, Any]:
    """Numerator and denominator, of degrees n and m, of the rational function with the Taylor coefficients `an`.

    >>> import gradtape as gt
    >>> from gradtape.scipy.interpolate import pade
    >>> def approximate(a):
    ...     p, q = pade(a, 1)
    ...     return p(0.5) / q(0.5)
    >>> gt.grad(approximate)(gt.tensor([1.0, 1.0, 0.5])).round(6)
    Tensor([1.      , 0.444444, 0.444444])
    """
    series = value_of(stacked(an))
    degree = len(series.shape) and series.shape[0] - 1 - m if n is None else n
    if degree < 0 or m + degree > series.shape[0] - 1:
        raise argument_error(
            OperandError,
            f"scipy.interpolate.pade: degrees n={degree} and m={m} for {series.shape[0]} coefficients.",
            "n >= 0 and m + n less than the number of coefficients",
        )
    series = series[: degree + m + 1]
    size = degree + m + 1
    reach = np.arange(size)[:, None] - 1 - np.arange(m)
    known = where_op(reach >= 0, -picked(series, np.maximum(reach, 0)), 0.0)
    found = np.linalg.solve(concatenate([np.eye(size, degree + 1), known], axis=1), series)
    above, below = found[: degree + 1], concatenate([np.ones(1), found[degree + 1 :]])
    return np.poly1d(above[::-1]), np.poly1d(below[::-1])
