"""Piecewise polynomials and the splines that are made as such, differentiated by points, values and break points."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import interpolate as theirs

from gradtape.errors import OperandError, ShapeError, UnsupportedError
from gradtape.extend import (
    BatchTensor,
    Lifted,
    Tensor,
    Untraceable,
    argument_error,
    array_of,
    as_value,
    off_tape,
    one_axis,
)
from gradtape.mirror import Original, holds_tensor
from gradtape.ops import abs as abs_op
from gradtape.ops import concatenate, moveaxis, stack, take, transpose
from gradtape.ops import where as where_op
from gradtape.scipy.callbacks import solution, stacked

original = Original("scipy.interpolate")


def value_of(x: Any) -> Any:
    """An argument as an array of floats, or a tensor."""
    value = as_value(stacked(x))
    return value if value.dtype.kind in "fc" else value.astype(float)


def known_numbers(x: Any, what: str) -> Any:
    """The numbers of a tensor that decides which piece a point is in; not in a batch, and not while jit traces."""
    x = off_tape(x)
    if isinstance(x, BatchTensor):
        raise argument_error(
            UnsupportedError, f"{what} differ between the examples of a batch.", "the same for all; a loop over them"
        )
    if isinstance(x, Lifted):
        raise Untraceable(f"{what} depend on its arguments")
    return np.asarray(array_of(x) if isinstance(x, Tensor) else x)


def picked(values: Any, index: Any) -> Any:
    """`values[index]`, for an index that may be a tensor too."""
    return take(values, index, axis=0) if isinstance(index, Tensor) else values[index]


def place_axes(values: Any, ndim: int, axis: int) -> Any:
    """Values with the axes of the points in front, with these at the place of the axis that was interpolated."""
    if not axis:
        return values
    axes = list(range(len(values.shape)))
    return transpose(values, axes[ndim : ndim + axis] + axes[:ndim] + axes[ndim + axis :])


def outside_is_nan(values: Any, flat: Any, low: Any, high: Any) -> Any:
    """NaN for the points that are not between the limits."""
    inside = (off_tape(flat) >= low) & (off_tape(flat) <= high)
    return where_op(inside.reshape((-1,) + (1,) * (len(values.shape) - 1)), values, np.nan)


def extend_pieces(polynomial: Any, c: Any, x: Any) -> None:
    """Add pieces with coefficients c between break points x to a piecewise polynomial, on the side that x is on."""
    old, knots = polynomial.c, polynomial.x
    if len(x.shape) != 1 or c.shape[1:2] != x.shape or c.shape[2:] != old.shape[2:]:
        raise argument_error(
            ShapeError,
            f"extend: c has shape {c.shape}, and x shape {x.shape}, for coefficients of shape {old.shape}.",
            "one break point for each piece, and the trailing axes of the present coefficients",
        )
    if not x.shape[0]:
        return
    new, present = known_numbers(x, "the break points"), known_numbers(knots, "the break points")
    order = np.sign(present[-1] - present[0])
    is_behind = (new[0] - present[-1]) * order >= 0
    if not is_behind and (present[0] - new[-1]) * order < 0:
        raise argument_error(OperandError, "extend: x is not on one side of the break points.", "all of x on one side")
    height = max(c.shape[0], old.shape[0])
    c, old = (
        concatenate([np.zeros((height - each.shape[0], *each.shape[1:])), each]) if each.shape[0] < height else each
        for each in (c, old)
    )
    both = (old, c) if is_behind else (c, old)
    places = (knots, x) if is_behind else (x, knots)
    polynomial.moving = (concatenate(list(both), axis=1), concatenate(list(places)))


class PPoly(theirs.PPoly):  # type: ignore[misc]  # SciPy has no types
    """A piecewise polynomial: `sum(c[m, i] * (x - x[i])**(k - m))` between x[i] and x[i + 1].

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import PPoly
    >>> square = PPoly(np.array([[1.0], [0.0], [0.0]]), [0.0, 1.0])
    >>> gt.grad(lambda x: square(x))(0.5)
    np.float64(1.0)
    """

    moving: tuple[Any, Any] | None = None

    def __init__(self, c: Any, x: Any, extrapolate: Any = None, axis: int = 0) -> None:
        if not holds_tensor((c, x)):
            super().__init__(c, x, extrapolate, axis)
            return
        c, x = value_of(c), value_of(x)
        if axis:
            c = moveaxis(moveaxis(c, axis + 1, 0), axis + 1, 0)
        self.hold(c, x, extrapolate, axis)

    def hold(self, c: Any, x: Any, extrapolate: Any, axis: int) -> None:
        """Keep coefficients or break points that are tensors."""
        if len(x.shape) != 1 or x.shape[0] < 2 or len(c.shape) < 2 or c.shape[1] != x.shape[0] - 1:
            raise argument_error(
                ShapeError,
                f"scipy.interpolate.{type(self).__name__}: c has shape {c.shape}, and x shape {x.shape}.",
                "c of shape (k, m, ...) and x of m + 1 break points",
            )
        steps = np.diff(known_numbers(x, "the break points"))
        if not (np.all(steps > 0) or (np.all(steps < 0) and type(self) is PPoly)):
            raise argument_error(
                OperandError, f"scipy.interpolate.{type(self).__name__}: x is not in order.", "x that only grows"
            )
        self.moving = (c, x)
        if isinstance(getattr(type(self), "axis", None), property):  # SciPy 1.18 keeps these in another object
            self._delegate_to = SimpleNamespace()
        self.axis = axis
        self.extrapolate = True if extrapolate is None else extrapolate

    @classmethod
    def of(cls, c: Any, x: Any, extrapolate: Any = None, axis: int = 0) -> PPoly:
        """One with these coefficients, whose axes are in order already."""
        made = PPoly.__new__(PPoly)
        if holds_tensor((c, x)):
            made.hold(c, x, extrapolate, axis)
        else:
            theirs.PPoly.__init__(made, c, x, extrapolate)
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
            theirs.PPoly.c.__set__(self, value)

    @property
    def x(self) -> Any:
        """The break points."""
        return super().x if self.moving is None else self.moving[1]

    @x.setter
    def x(self, value: Any) -> None:
        if self.moving is not None or holds_tensor((value,)):
            self.moving = (self.c, value_of(value))
        else:
            theirs.PPoly.x.__set__(self, value)

    def extend(self, c: Any, x: Any) -> None:
        """Add pieces behind the last or before the first break point."""
        if self.moving is None and not holds_tensor((c, x)):
            super().extend(c, x)
            return
        extend_pieces(self, value_of(c), value_of(x))

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """The values, or the derivatives of order `nu`, at the points x."""
        if self.moving is None and not holds_tensor((x,)):
            return super().__call__(x, nu, extrapolate)
        if nu < 0:
            return self.antiderivative(-nu)(x, 0, extrapolate)
        given = value_of(x)
        flat = given.reshape((-1,))
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        knots = self.x
        known = known_numbers(knots, "the break points")
        if isinstance(extrapolate, str) and extrapolate == "periodic":
            flat = knots[0] + (flat - knots[0]) % (knots[-1] - knots[0])
            extrapolate = False
        values = self._at(flat, nu, known)
        if not extrapolate:
            values = outside_is_nan(values, flat, known.min(), known.max())
        values = values.reshape((*given.shape, *values.shape[1:]))
        return place_axes(values, len(given.shape), self.axis)

    def _at(self, flat: Any, nu: int, known: Any) -> Any:
        c, knots = self.c, self.x
        order = c.shape[0]
        falls = known[0] > known[-1]
        spots = np.searchsorted(-known if falls else known, off_tape(-flat if falls else flat), side="right") - 1
        pieces = np.clip(spots, 0, c.shape[1] - 1)
        trailing = (1,) * (len(c.shape) - 2)
        move = (flat - picked(knots, pieces)).reshape((-1, *trailing))
        total: Any = None
        for index in range(order - nu):
            power = order - 1 - index
            term = picked(c[index], pieces) * float(math.perm(power, nu)) if nu else picked(c[index], pieces)
            total = term if total is None else total * move + term
        return 0.0 * (picked(c[0], pieces) * move) if total is None else total

    def derivative(self, nu: int = 1) -> Any:
        """The derivative as a piecewise polynomial."""
        if self.moving is None:
            return PPoly.of(*_parts(super().derivative(nu)))
        if nu < 0:
            return self.antiderivative(-nu)
        c = self.c
        order = c.shape[0]
        factors = np.array([math.perm(order - 1 - i, nu) for i in range(order - nu)], float)
        found = c[: order - nu] * factors.reshape((-1,) + (1,) * (len(c.shape) - 1)) if order > nu else 0.0 * c[:1]
        return PPoly.of(found, self.x, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> Any:
        """The integral from the first break point as a piecewise polynomial."""
        if self.moving is None:
            return PPoly.of(*_parts(super().antiderivative(nu)))
        if nu <= 0:
            return self.derivative(-nu)
        c, x = self.c, self.x
        for _ in range(nu):
            order = c.shape[0]
            powers = np.arange(order, 0, -1.0).reshape((-1,) + (1,) * (len(c.shape) - 1))
            c = c / powers
            steps = (x[1:] - x[:-1]).reshape((-1,) + (1,) * (len(c.shape) - 2))
            whole: Any = 0.0
            for index in range(order):
                whole = (whole + c[index]) * steps
            sums = whole.cumsum(axis=0)
            constants = concatenate([0.0 * sums[:1], sums[:-1]], axis=0)
            c = concatenate([c, constants[None]], axis=0)
        extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        return PPoly.of(c, x, extrapolate, self.axis)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """The integral from a to b."""
        if self.moving is None and not holds_tensor((a, b)):
            return super().integrate(a, b, extrapolate)
        chosen = self.extrapolate if extrapolate is None else extrapolate
        if isinstance(chosen, str):
            raise argument_error(
                UnsupportedError,
                "scipy.interpolate: the integral of a periodic spline is not differentiated.",
                "limits within one period, and extrapolate=False",
            )
        sums = self.antiderivative()
        found = [sums(end, 0, chosen) for end in (b, a)]
        return found[0] - found[1]

    def solve(self, y: Any = 0.0, discontinuity: bool = True, extrapolate: Any = None) -> Any:
        """Where the polynomial is y, moving with whatever it depends on."""
        if self.moving is None and not holds_tensor((y,)):
            return super().solve(y, discontinuity, extrapolate)
        c = known_numbers(self.c, "the coefficients")
        if c.ndim != 2:
            raise argument_error(
                UnsupportedError, "scipy.interpolate: roots of several polynomials at once.", "one spline for each"
            )
        plain = theirs.PPoly(c, known_numbers(self.x, "the break points"), self.extrapolate)
        found = plain.solve(float(known_numbers(y, "y")), discontinuity, extrapolate)
        if not np.isfinite(found).all() or not found.size:
            return found
        level = stacked(y)
        return solution(lambda z: self(z, 0, True) - level, found, "scipy.interpolate: roots", polish=False)

    def roots(self, discontinuity: bool = True, extrapolate: Any = None) -> Any:
        """Where the polynomial is zero."""
        return self.solve(0.0, discontinuity, extrapolate)


def _parts(found: Any) -> tuple[Any, ...]:
    return found.c, found.x, found.extrapolate, found.axis


def _prepared(x: Any, y: Any, axis: int, name: str) -> tuple[Any, Any, int]:
    """Points, values with the interpolated axis first, and the axis."""
    points, values = value_of(x), value_of(y)
    axis = one_axis(axis, len(values.shape))
    values = moveaxis(values, axis, 0)
    if len(points.shape) != 1 or points.shape[0] < 2 or points.shape[0] != values.shape[0]:
        raise argument_error(
            ShapeError,
            f"scipy.interpolate.{name}: x has shape {points.shape}, and y {values.shape[0]} values along its axis.",
            "at least two points, and a value for each",
        )
    return points, values, axis


def _column(x: Any, like: Any) -> Any:
    return x.reshape((-1,) + (1,) * (len(like.shape) - 1))


def _hermite(x: Any, y: Any, slopes: Any) -> Any:
    """The coefficients of the cubics with these values and slopes at the break points."""
    h = _column(x[1:] - x[:-1], y)
    rise = (y[1:] - y[:-1]) / h
    t = (slopes[:-1] + slopes[1:] - 2.0 * rise) / h
    return stack([t / h, (rise - slopes[:-1]) / h - t, slopes[:-1], y[:-1]])


class CubicHermiteSpline(PPoly):
    """The piecewise cubic with given values and first derivatives.

    >>> import gradtape as gt
    >>> from gradtape.scipy.interpolate import CubicHermiteSpline
    >>> gt.grad(lambda slope: CubicHermiteSpline([0.0, 1.0], [0.0, 0.0], [slope, 0.0])(0.5))(1.0)
    np.float64(0.125)
    """

    def __init__(self, x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: Any = None) -> None:
        if not holds_tensor((x, y, dydx)):
            plain = theirs.CubicHermiteSpline(x, y, dydx, axis, extrapolate)
            theirs.PPoly.__init__(self, plain.c, plain.x, plain.extrapolate)
            self.axis = plain.axis
            return
        points, values, axis = _prepared(x, y, axis, "CubicHermiteSpline")
        self.hold(_hermite(points, values, moveaxis(value_of(dydx), axis, 0)), points, extrapolate, axis)


class PchipInterpolator(CubicHermiteSpline):
    """The piecewise cubic that keeps monotony.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import PchipInterpolator
    >>> gt.jacobian(lambda y: PchipInterpolator([0.0, 1.0, 2.0], y)(1.0))(np.array([0.0, 1.0, 4.0]))
    array([0., 1., 0.])
    """

    def __init__(self, x: Any, y: Any, axis: int = 0, extrapolate: Any = None) -> None:
        if not holds_tensor((x, y)):
            plain = theirs.PchipInterpolator(x, y, axis, extrapolate)
            _copy(self, plain)
            return
        points, values, axis = _prepared(x, y, axis, "PchipInterpolator")
        self.hold(_hermite(points, values, _pchip_slopes(points, values)), points, extrapolate, axis)


def _copy(ours: PPoly, plain: Any) -> None:
    """Have the coefficients of a spline of SciPy's."""
    theirs.PPoly.__init__(ours, plain.c, plain.x, plain.extrapolate)
    ours.axis = plain.axis


def _pchip_slopes(x: Any, y: Any) -> Any:
    h = _column(x[1:] - x[:-1], y)
    m = (y[1:] - y[:-1]) / h
    if y.shape[0] == 2:
        return concatenate([m, m], axis=0)
    sign = np.sign(off_tape(m))
    flat = (sign[1:] != sign[:-1]) | (sign[1:] == 0) | (sign[:-1] == 0)
    w1, w2 = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    low, high = where_op(flat, 1.0, m[:-1]), where_op(flat, 1.0, m[1:])
    inner = where_op(flat, 0.0, (w1 + w2) / (w1 / low + w2 / high))
    ends = [_pchip_end(h[0], h[1], m[0], m[1]), _pchip_end(h[-1], h[-2], m[-1], m[-2])]
    return concatenate([ends[0][None], inner, ends[1][None]], axis=0)


def _pchip_end(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
    slope = ((2.0 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    s, a, b = off_tape(slope), off_tape(m0), off_tape(m1)
    other = np.sign(s) != np.sign(a)
    steep = (np.sign(a) != np.sign(b)) & (abs_op(s) > 3.0 * abs_op(a))
    return where_op(other, 0.0, where_op(steep, 3.0 * m0, slope))


class Akima1DInterpolator(CubicHermiteSpline):
    """Akima's piecewise cubic, or the modified one with `method="makima"`.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import Akima1DInterpolator
    >>> y = np.array([0.0, 1.0, 4.0, 9.0, 16.0])
    >>> gt.grad(lambda x: Akima1DInterpolator(np.arange(5.0), y)(x))(2.0)
    np.float64(4.0)
    """

    def __init__(self, x: Any, y: Any, axis: int = 0, *, method: str = "akima", extrapolate: Any = None) -> None:
        if not holds_tensor((x, y)):
            _copy(self, theirs.Akima1DInterpolator(x, y, axis, method=method, extrapolate=extrapolate))
            return
        if method not in ("akima", "makima"):
            raise argument_error(
                OperandError, f"scipy.interpolate.Akima1DInterpolator: method={method!r}.", "akima or makima"
            )
        points, values, axis = _prepared(x, y, axis, "Akima1DInterpolator")
        slopes = _akima_slopes(points, values, method == "makima")
        self.hold(_hermite(points, values, slopes), points, bool(extrapolate), axis)


def _akima_slopes(x: Any, y: Any, is_modified: bool) -> Any:
    m = (y[1:] - y[:-1]) / _column(x[1:] - x[:-1], y)
    if y.shape[0] == 2:
        return concatenate([m, m], axis=0)
    before = 2.0 * m[0] - m[1]
    after = 2.0 * m[-1] - m[-2]
    ends = [(2.0 * before - m[0])[None], before[None]], [after[None], (2.0 * after - m[-1])[None]]
    m = concatenate([*ends[0], m, *ends[1]], axis=0)
    bends = abs_op(m[1:] - m[:-1])
    if is_modified:
        sums = 0.5 * abs_op(m[1:] + m[:-1])
        left, right = bends[2:] + sums[2:], bends[:-2] + sums[:-2]
    else:
        left, right = bends[2:], bends[:-2]
    total = left + right
    straight = off_tape(total) <= 1e-9 * np.max(off_tape(total))
    weighted = (left * m[1:-2] + right * m[2:-1]) / where_op(straight, 1.0, total)
    return where_op(straight, 0.5 * (m[3:] + m[:-3]), weighted)


class CubicSpline(CubicHermiteSpline):
    """The cubic spline through the values, twice differentiable, for every `bc_type` of SciPy's.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import CubicSpline
    >>> x = np.arange(4.0)
    >>> gt.grad(lambda y: CubicSpline(x, y)(1.5))(x**2).round(4)
    array([-0.0625,  0.5625,  0.5625, -0.0625])
    """

    def __init__(self, x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None) -> None:
        if not holds_tensor((x, y, bc_type)):
            _copy(self, theirs.CubicSpline(x, y, axis, bc_type, extrapolate))
            return
        points, values, axis = _prepared(x, y, axis, "CubicSpline")
        periodic = isinstance(bc_type, str) and bc_type == "periodic"
        if extrapolate is None:
            extrapolate = "periodic" if periodic else True
        slopes = _periodic_slopes(points, values) if periodic else _spline_slopes(points, values, _ends(bc_type))
        self.hold(_hermite(points, values, slopes), points, extrapolate, axis)


def _ends(bc_type: Any) -> list[Any]:
    """The condition at each end: "not-a-knot", or an order and a value."""
    if isinstance(bc_type, str):
        bc_type = (bc_type, bc_type)
    named: dict[str, Any] = {"not-a-knot": "not-a-knot", "clamped": (1, 0.0), "natural": (2, 0.0)}
    found = []
    for each in bc_type:
        if isinstance(each, str) and each in named:
            found.append(named[each])
        elif isinstance(each, list | tuple) and len(each) == 2 and each[0] in (1, 2):
            found.append((each[0], stacked(each[1])))
        else:
            raise argument_error(
                OperandError,
                f"scipy.interpolate.CubicSpline: bc_type={each!r}.",
                "not-a-knot, periodic, clamped, natural, or (order, value) with order 1 or 2 for each end",
            )
    if len(found) != 2:
        raise argument_error(OperandError, "scipy.interpolate.CubicSpline: bc_type is no pair.", "one for each end")
    return found


def _periodic_slopes(x: Any, y: Any) -> Any:
    """The slopes at the break points of the spline that goes on with its beginning."""
    h = x[1:] - x[:-1]
    rise = (y[1:] - y[:-1]) / _column(h, y)
    count = h.shape[0]
    before = np.roll(h, 1)
    identity = np.eye(count)
    matrix = _diagonal(2.0 * (before + h), identity) + _diagonal(h, np.roll(identity, -1, axis=1))
    matrix = matrix + _diagonal(before, np.roll(identity, 1, axis=1))
    right = 3.0 * (_column(h, y) * np.roll(rise, 1, axis=0) + _column(before, y) * rise)
    slopes = _solved(matrix, right)
    return concatenate([slopes, slopes[:1]], axis=0)


def _diagonal(values: Any, places: Any) -> Any:
    return values.reshape((-1, 1)) * places


def _solved(matrix: Any, right: Any) -> Any:
    flat = right.reshape((right.shape[0], -1))
    return np.linalg.solve(matrix, flat).reshape(right.shape)


def _spline_slopes(x: Any, y: Any, ends: list[Any]) -> Any:
    """The slopes at the break points: the second derivative is continuous, with a condition at each end."""
    h = x[1:] - x[:-1]
    count = y.shape[0]
    rise = (y[1:] - y[:-1]) / _column(h, y)
    if count == 2:
        ends = [(1, rise[0]) if isinstance(end, str) else end for end in ends]
    if count == 3 and all(isinstance(end, str) for end in ends):  # one parabola
        d = x[2] - x[0]
        curve = (rise[1] - rise[0]) / d
        return stack([rise[0] - curve * h[0], rise[0] + curve * h[0], rise[1] + curve * h[1]])
    rows, right = [], []
    for side, end in enumerate(ends):
        first, step = (0, 1) if side == 0 else (-1, -1)
        unit = np.eye(count)
        near, far = h[0 if side == 0 else -1], h[min(1, count - 2) if side == 0 else max(-2, 1 - count)]
        if isinstance(end, str):
            d = near + far
            rows.append(far * unit[first] + d * unit[first + step])
            inner = rise[0], rise[1]
            if side:
                inner = rise[-1], rise[-2]
            right.append(((near + 2.0 * d) * far * inner[0] + near * near * inner[1]) / d)
        elif end[0] == 1:
            rows.append(unit[first] + 0.0 * near)
            right.append(end[1] + 0.0 * rise[0])
        else:
            rows.append(2.0 * near * unit[first] + near * unit[first + step])
            bend = -0.5 * end[1] * near * near if side == 0 else 0.5 * end[1] * near * near
            edge = y[1] - y[0] if side == 0 else y[-1] - y[-2]
            right.append(bend + 3.0 * edge)
    matrix, constants = [rows[0][None]], [right[0][None]]
    if count > 2:
        unit = np.eye(count)
        inside = _diagonal(h[1:], unit[:-2]) + _diagonal(2.0 * (h[:-1] + h[1:]), unit[1:-1])
        matrix.append(inside + _diagonal(h[:-1], unit[2:]))
        constants.append(3.0 * (_column(h[1:], y) * rise[:-1] + _column(h[:-1], y) * rise[1:]))
    matrix.append(rows[1][None])
    constants.append(right[1][None])
    return _solved(concatenate(matrix, axis=0), concatenate(constants, axis=0))
