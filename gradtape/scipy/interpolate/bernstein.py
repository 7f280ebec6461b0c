"""Piecewise polynomials in the basis of Bernstein, differentiated by coefficients, break points and points."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import interpolate as theirs

from gradtape.errors import OperandError, UnsupportedError
from gradtape.extend import argument_error
from gradtape.mirror import holds_tensor
from gradtape.ops import concatenate, moveaxis, stack
from gradtape.scipy.interpolate.piecewise import PPoly, value_of


def power_coefficients(c: Any, x: Any) -> Any:
    """The coefficients of powers of the distance from the left break point, highest first, as `PPoly` has them.

    B(a, k) = binom(k, a) t^a (1 - t)^(k - a) = sum over s of binom(k, a) binom(k - a, s) (-1)^s t^(a + s).
    """
    degree = c.shape[0] - 1
    matrix = np.zeros((degree + 1, degree + 1))
    for a in range(degree + 1):
        for s in range(degree - a + 1):
            matrix[degree - a - s, a] = math.comb(degree, a) * math.comb(degree - a, s) * (-1.0) ** s
    powers = (matrix @ c.reshape((degree + 1, -1))).reshape(c.shape)
    widths = (x[1:] - x[:-1]).reshape((-1,) + (1,) * (len(c.shape) - 2))
    return stack([powers[index] / widths ** (degree - index) for index in range(degree + 1)])


class BPoly(theirs.BPoly):  # type: ignore[misc]  # SciPy has no types
    """A piecewise polynomial: between x[i] and x[i + 1] the sum of c[a, i] times the Bernstein polynomials.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import BPoly
    >>> gt.grad(lambda c: BPoly(c, [0.0, 1.0])(0.5))(np.array([[1.0], [2.0], [4.0]])).T
    array([[0.25, 0.5 , 0.25]])
    """

    moving: tuple[Any, Any] | None = None

    def __init__(self, c: Any, x: Any, extrapolate: Any = None, axis: int = 0) -> None:
        if not holds_tensor((c, x)):
            theirs.BPoly.__init__(self, c, x, extrapolate, axis)
            return
        c, x = value_of(c), value_of(x)
        if axis:
            c = moveaxis(moveaxis(c, axis + 1, 0), axis + 1, 0)
        self._hold(c, x, extrapolate, axis)

    def _hold(self, c: Any, x: Any, extrapolate: Any, axis: int) -> None:
        """Keep coefficients or break points that are tensors."""
        self.moving = (c, x)
        if isinstance(getattr(type(self), "axis", None), property):  # SciPy 1.18 keeps these in another object
            self._delegate_to = SimpleNamespace()
        self.axis, self.extrapolate = axis, True if extrapolate is None else extrapolate

    @classmethod
    def of(cls, c: Any, x: Any, extrapolate: Any = None, axis: int = 0) -> BPoly:
        """One with these coefficients, whose axes are in order already."""
        made = BPoly.__new__(BPoly)
        if holds_tensor((c, x)):
            made._hold(c, x, extrapolate, axis)
        else:
            theirs.BPoly.__init__(made, c, x, extrapolate)
            made.axis = axis
        return made

    @property
    def c(self) -> Any:
        """The coefficients."""
        return super().c if self.moving is None else self.moving[0]

    @c.setter
    def c(self, value: Any) -> None:
        if self.moving is not None or holds_tensor((value,)):
            self.moving = (value_of(value), self.x)
        else:
            theirs.BPoly.c.__set__(self, value)

    @property
    def x(self) -> Any:
        """The break points."""
        return super().x if self.moving is None else self.moving[1]

    @x.setter
    def x(self, value: Any) -> None:
        if self.moving is not None or holds_tensor((value,)):
            self.moving = (self.c, value_of(value))
        else:
            theirs.BPoly.x.__set__(self, value)

    @property
    def _power(self) -> Any:
        return PPoly.of(power_coefficients(self.c, self.x), self.x, self.extrapolate, self.axis)

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """The values, or the derivatives of order `nu`, at the points x."""
        if self.moving is None and not holds_tensor((x,)):
            return super().__call__(x, nu, extrapolate)
        return self._power(x, nu, extrapolate)

    def derivative(self, nu: int = 1) -> Any:
        """The derivative as a polynomial of the same kind."""
        if nu < 0:
            return self.antiderivative(-nu)
        c, x = self.c, self.x
        widths = (x[1:] - x[:-1]).reshape((-1,) + (1,) * (len(c.shape) - 2))
        for _ in range(nu):
            degree = c.shape[0] - 1
            c = degree * (c[1:] - c[:-1]) / widths if degree else 0.0 * c
        return BPoly.of(c, x, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> Any:
        """The integral from the first break point as a polynomial of the same kind."""
        if nu <= 0:
            return self.derivative(-nu)
        c, x = self.c, self.x
        widths = (x[1:] - x[:-1]).reshape((-1,) + (1,) * (len(c.shape) - 2))
        for _ in range(nu):
            sums = np.cumsum(c * widths / c.shape[0], axis=0)
            whole = np.cumsum(sums[-1], axis=0)
            start = concatenate([0.0 * whole[:1], whole[:-1]], axis=0)
            c = concatenate([0.0 * sums[:1], sums], axis=0) + start
        return BPoly.of(c, x, False if self.extrapolate == "periodic" else self.extrapolate, self.axis)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """The integral from a to b."""
        if self.moving is None and not holds_tensor((a, b)):
            return super().integrate(a, b, extrapolate)
        return self._power.integrate(a, b, extrapolate)

    def extend(self, c: Any, x: Any, right: Any = None) -> None:
        """Add pieces; not to one with tensors."""
        if self.moving is not None or holds_tensor((c, x)):
            raise argument_error(
                UnsupportedError,
                "scipy.interpolate.BPoly: pieces cannot be added to one with tensors.",
                "BPoly(np.concatenate([a.c, c], axis=1), np.concatenate([a.x, x]))",
            )
        super().extend(c, x)

    @classmethod
    def from_power_basis(cls, pp: Any, extrapolate: Any = None) -> Any:
        """The same polynomial as a `PPoly`, in this basis."""
        if not isinstance(pp, PPoly) or pp.moving is None:
            found = theirs.BPoly.from_power_basis(pp, extrapolate)
            return BPoly.of(found.c, found.x, found.extrapolate, found.axis)
        c, x = pp.moving
        degree = c.shape[0] - 1
        widths = (x[1:] - x[:-1]).reshape((-1,) + (1,) * (len(c.shape) - 2))
        scaled = stack([c[degree - power] * widths**power for power in range(degree + 1)])
        matrix = np.zeros((degree + 1, degree + 1))
        for j in range(degree + 1):
            for power in range(j + 1):
                matrix[j, power] = math.comb(j, power) / math.comb(degree, power)
        found = (matrix @ scaled.reshape((degree + 1, -1))).reshape(scaled.shape)
        return BPoly.of(found, x, pp.extrapolate if extrapolate is None else extrapolate, pp.axis)

    @classmethod
    def from_derivatives(cls, xi: Any, yi: Any, orders: Any = None, extrapolate: Any = None) -> Any:
        """The polynomial with given values and derivatives, a row of them for each break point.

        >>> import gradtape as gt
        >>> from gradtape.scipy.interpolate import BPoly
        >>> gt.grad(lambda slope: BPoly.from_derivatives([0.0, 1.0], [[0.0, slope], [1.0, 0.0]])(0.5))(gt.tensor(1.0))
        Tensor(0.125)
        """
        if not holds_tensor((xi, yi)):
            found = theirs.BPoly.from_derivatives(xi, yi, orders, extrapolate)
            return BPoly.of(found.c, found.x, found.extrapolate, found.axis)
        x, rows = value_of(xi), [value_of(row) for row in yi]
        count = x.shape[0]
        if len(rows) != count or not all(len(row.shape) for row in rows):
            raise argument_error(
                OperandError,
                f"scipy.interpolate.BPoly.from_derivatives: {len(rows)} rows for {count} break points.",
                "a row of the value and the derivatives for each break point",
            )
        if orders is not None and np.ndim(orders) == 0:
            orders = [orders] * (count - 1)
        pieces = []
        for i in range(count - 1):
            left, right = _used(rows[i].shape[0], rows[i + 1].shape[0], None if orders is None else orders[i])
            pieces.append(_hermite(x[i + 1] - x[i], rows[i][:left], rows[i + 1][:right]))
        degree = max(rows[i].shape[0] + rows[i + 1].shape[0] for i in range(count - 1)) - 1
        return BPoly.of(stack([stack(_raised(piece, degree)) for piece in pieces], axis=1), x, extrapolate)


def _used(left: int, right: int, order: Any) -> tuple[int, int]:
    """How many of the derivatives at each end a piece of the given degree has."""
    if order is None:
        return left, right
    first = min((order + 1) // 2, left)
    second = min(order + 1 - first, right)
    first = min(order + 1 - second, left)
    if order < 1 or first + second != order + 1:
        raise argument_error(
            OperandError,
            f"scipy.interpolate.BPoly.from_derivatives: order {order} with {left} and {right} values at the ends.",
            "an order below the number of values at both ends",
        )
    return first, second


def _hermite(width: Any, left: Any, right: Any) -> list[Any]:
    """The coefficients of the polynomial with derivatives at both ends, in the basis of Bernstein.

    The k-th derivative at an end is (n)_k / width^k times the k-th difference of the coefficients next to it.
    """
    degree = left.shape[0] + right.shape[0] - 1
    found: list[Any] = [None] * (degree + 1)
    for side, row in ((0, left), (1, right)):
        sign = -1.0 if side else 1.0
        for k in range(row.shape[0]):
            value = row[k] * (sign * width) ** k / float(math.perm(degree, k))
            for j in range(k):
                value = value - (-1.0) ** (k - j) * math.comb(k, j) * found[degree - j if side else j]
            found[degree - k if side else k] = value
    return found


def _raised(c: list[Any], degree: int) -> list[Any]:
    """The coefficients of the same polynomial, as one of a higher degree."""
    while len(c) <= degree:
        n = len(c)
        inner = [(i * c[i - 1] + (n - i) * c[i]) / n for i in range(1, n)]
        c = [c[0], *inner, c[-1]]
    return c
