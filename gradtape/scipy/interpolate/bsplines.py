"""B-splines, differentiated by points, coefficients and knots, and those that interpolate values."""

from __future__ import annotations

import functools
import inspect
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import interpolate as theirs

from gradtape.errors import OperandError, UnsupportedError
from gradtape.extend import argument_error, as_value, off_tape, one_axis
from gradtape.mirror import holds_tensor
from gradtape.ops import concatenate, moveaxis
from gradtape.ops import where as where_op
from gradtape.scipy.callbacks import stacked
from gradtape.scipy.interpolate.piecewise import known_numbers, original, outside_is_nan, picked, place_axes, value_of


def basis(x: Any, t: Any, k: int, pieces: Any) -> list[Any]:
    """The k + 1 B-splines that are not zero between the knots t[piece] and t[piece + 1], at a vector of points.

    This is the recursion of Cox and de Boor from degree to degree.
    """
    found: list[Any] = [0.0 * x + 1.0]
    for degree in range(1, k + 1):
        following: list[Any] = [0.0] * (degree + 1)
        for index, value in enumerate(found):
            low, high = picked(t, pieces + 1 + index - degree), picked(t, pieces + 1 + index)
            width = high - low
            share = value / where_op(off_tape(width) == 0.0, 1.0, width)
            following[index] = following[index] + (high - x) * share
            following[index + 1] = (x - low) * share
        found = following
    return found


def pieces_of(x: Any, known: Any, k: int) -> Any:
    """For each point the number of the knot that its piece begins with."""
    return np.clip(np.searchsorted(known, off_tape(x), side="right") - 1, k, len(known) - k - 2)


def derived(t: Any, c: Any, k: int, nu: int) -> tuple[Any, Any, int]:
    """Knots, coefficients and degree of the derivative of order `nu`."""
    for _ in range(nu):
        if k == 0:
            return t, 0.0 * c, 0
        count = t.shape[0] - k - 1
        width = t[k + 1 : k + count] - t[1:count]
        width = where_op(off_tape(width) == 0.0, 1.0, width).reshape((-1,) + (1,) * (len(c.shape) - 1))
        c, t, k = k * (c[1:count] - c[: count - 1]) / width, t[1:-1], k - 1
    return t, c, k


def evaluated(t: Any, c: Any, k: int, flat: Any, nu: int) -> Any:
    """The spline, or its derivative of order `nu`, at a vector of points; c has the coefficients along axis 0."""
    t, c, degree = derived(t, c, k, nu)
    known = known_numbers(t, "the knots")
    pieces = pieces_of(flat, known, degree)
    trailing = (1,) * (len(c.shape) - 1)
    total: Any = 0.0
    for index, value in enumerate(basis(flat, t, degree, pieces)):
        total = total + value.reshape((-1, *trailing)) * picked(c, pieces - degree + index)
    return total


def _attribute(spline: Any, name: str) -> Any:
    """Knots or coefficients of a spline of SciPy's: a property of its class, or kept by the object itself."""
    kept = getattr(theirs.BSpline, name, None)
    return vars(spline)[name] if kept is None else kept.__get__(spline)


def _set_attribute(spline: Any, name: str, value: Any) -> None:
    kept = getattr(theirs.BSpline, name, None)
    if kept is None:
        vars(spline)[name] = value
    else:
        kept.__set__(spline, value)


class BSpline(theirs.BSpline):  # type: ignore[misc]  # SciPy has no types
    """A spline of degree k with knots t and coefficients c.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import BSpline
    >>> t = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    >>> gt.grad(lambda c: BSpline(t, c, 2)(0.5))(np.array([1.0, 2.0, 3.0]))
    array([0.25, 0.5 , 0.25])
    """

    moving: tuple[Any, Any] | None = None

    def __init__(self, t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> None:
        if not holds_tensor((t, c)):
            super().__init__(t, c, k, extrapolate, axis)
            return
        knots, coefficients = value_of(t), value_of(c)
        axis = one_axis(axis, len(coefficients.shape))
        coefficients = moveaxis(coefficients, axis, 0)
        self.hold(knots, coefficients, int(k), extrapolate, axis)

    def hold(self, t: Any, c: Any, k: int, extrapolate: Any, axis: int) -> None:
        """Keep knots or coefficients that are tensors."""
        count = t.shape[0] - k - 1
        if k < 0 or len(t.shape) != 1 or count < k + 1 or c.shape[0] < count:
            raise argument_error(
                OperandError,
                f"scipy.interpolate.BSpline: {t.shape[0]} knots and {c.shape[0]} coefficients for degree {k}.",
                "at least 2 k + 2 knots, and as many coefficients as knots less k + 1",
            )
        if np.any(np.diff(known_numbers(t, "the knots")) < 0):
            raise argument_error(OperandError, "scipy.interpolate.BSpline: t is not in order.", "knots that only grow")
        self.moving = (t, c[:count])
        if isinstance(getattr(type(self), "axis", None), property):  # SciPy 1.18 keeps these in another object
            self._delegate_to = SimpleNamespace()
        self.k, self.axis = k, axis
        self.extrapolate = extrapolate if isinstance(extrapolate, str) else bool(extrapolate)

    @classmethod
    def of(cls, t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> BSpline:
        """One with these coefficients, whose axes are in order already."""
        made = BSpline.__new__(BSpline)
        if holds_tensor((t, c)):
            made.hold(t, c, k, extrapolate, axis)
        else:
            theirs.BSpline.__init__(made, t, c, k, extrapolate)
            made.axis = axis
        return made

    @property
    def t(self) -> Any:
        """The knots."""
        return _attribute(self, "t") if self.moving is None else self.moving[0]

    @t.setter
    def t(self, value: Any) -> None:
        if self.moving is not None or holds_tensor((value,)):
            self.moving = (value_of(value), self.c)
        else:
            _set_attribute(self, "t", value)

    @property
    def c(self) -> Any:
        """The coefficients."""
        return _attribute(self, "c") if self.moving is None else self.moving[1]

    @c.setter
    def c(self, value: Any) -> None:
        if self.moving is not None or holds_tensor((value,)):
            self.moving = (self.t, value_of(value))
        else:
            _set_attribute(self, "c", value)

    @property
    def tck(self) -> tuple[Any, Any, int]:
        """Knots, coefficients and degree."""
        return self.t, self.c, self.k

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """The values, or the derivatives of order `nu`, at the points x."""
        if self.moving is None and not holds_tensor((x,)):
            return super().__call__(x, nu, extrapolate)
        given = value_of(x)
        flat = given.reshape((-1,))
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        t, c, k = self.tck
        known = known_numbers(t, "the knots")
        low, high = known[k], known[len(known) - k - 1]
        if isinstance(extrapolate, str) and extrapolate == "periodic":
            flat = t[k] + (flat - t[k]) % (t[t.shape[0] - k - 1] - t[k])
            extrapolate = False
        values = evaluated(t, c, k, flat, nu)
        if not extrapolate:
            values = outside_is_nan(values, flat, low, high)
        return place_axes(values.reshape((*given.shape, *values.shape[1:])), len(given.shape), self.axis)

    def derivative(self, nu: int = 1) -> Any:
        """The derivative as a spline."""
        if self.moving is None:
            found = super().derivative(nu)
            return BSpline.of(found.t, found.c, found.k, found.extrapolate, found.axis)
        return BSpline.of(*derived(*self.tck, nu), self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> Any:
        """The integral from the first knot as a spline."""
        if self.moving is None:
            found = super().antiderivative(nu)
            return BSpline.of(found.t, found.c, found.k, found.extrapolate, found.axis)
        t, c, k = self.tck
        for _ in range(nu):
            count = t.shape[0] - k - 1
            width = (t[k + 1 : k + 1 + count] - t[:count]).reshape((-1,) + (1,) * (len(c.shape) - 1))
            sums = (c * width).cumsum(axis=0) / (k + 1.0)
            c = concatenate([0.0 * sums[:1], sums], axis=0)
            t, k = concatenate([t[:1], t, t[-1:]]), k + 1
        extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        return BSpline.of(t, c, k, extrapolate, self.axis)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """The integral from a to b; outside of the knots the spline counts as zero without `extrapolate`."""
        if self.moving is None and not holds_tensor((a, b)):
            return super().integrate(a, b, extrapolate)
        chosen = self.extrapolate if extrapolate is None else extrapolate
        if isinstance(chosen, str):
            raise argument_error(
                UnsupportedError, "scipy.interpolate: a periodic integral is not differentiated.", "extrapolate=False"
            )
        t, _, k = self.tck
        ends = [value_of(end) for end in (a, b)]
        if not chosen:
            ends = [np.clip(end, t[k], t[t.shape[0] - k - 1]) for end in ends]
        sums = self.antiderivative()
        return sums(ends[1], 0, True) - sums(ends[0], 0, True)


def design(x: Any, t: Any, k: int, nu: int = 0) -> Any:
    """The matrix of all B-splines of degree k, or of their derivatives, at a vector of points."""
    count = t.shape[0] - k - 1
    return evaluated(t, np.eye(count), k, x, nu)


def returns_spline(function: Any) -> Any:
    """Decorate a function of SciPy's that returns a BSpline, so that it is ours, which can be evaluated at tensors."""
    choose = original.differentiated(function)

    @functools.wraps(choose)
    def call(*args: Any, **kwargs: Any) -> Any:
        found = choose(*args, **kwargs)
        if isinstance(found, BSpline):
            return found
        return BSpline.of(found.t, found.c, found.k, found.extrapolate, found.axis)

    call.__signature__ = inspect.signature(choose)  # type: ignore[attr-defined]
    original.functions[function.__name__] = call
    return call


@returns_spline
def make_interp_spline(
    x: Any, y: Any, k: int = 3, t: Any = None, bc_type: Any = None, axis: int = 0, check_finite: bool = True
) -> Any:
    """The spline of degree k through the values y at the points x.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import make_interp_spline
    >>> x = np.arange(5.0)
    >>> gt.grad(lambda y: make_interp_spline(x, y)(2.0))(x**2).round(6) + 0.0
    array([0., 0., 1., 0., 0.])
    """
    points, values = value_of(x), value_of(y)
    axis = one_axis(axis, len(values.shape))
    values = moveaxis(values, axis, 0)
    if isinstance(bc_type, str) and bc_type == "periodic":
        raise argument_error(
            UnsupportedError,
            'scipy.interpolate.make_interp_spline: bc_type="periodic" is not differentiated.',
            'CubicSpline(x, y, bc_type="periodic")',
        )
    # SciPy checks the arguments and chooses among the conditions; values do not matter for that
    plain = theirs.make_interp_spline(
        known_numbers(points, "the points"),
        np.zeros(points.shape[0] if len(values.shape) == 1 else values.shape),
        k,
        None if t is None else known_numbers(stacked(t), "the knots"),
        _plain_ends(bc_type),
    )
    knots = _knots(points, k, t, bc_type)
    if k == 0 or (k == 1 and t is None):
        return BSpline.of(knots, values, k, True, axis)
    left, right = _conditions(bc_type, values)
    rows = [design(points[:1], knots, k, order) for order, _ in left]
    rows.append(design(points, knots, k))
    rows += [design(points[-1:], knots, k, order) for order, _ in right]
    wanted = [value[None] for _, value in left] + [values] + [value[None] for _, value in right]
    matrix, constants = concatenate(rows, axis=0), concatenate(wanted, axis=0)
    flat = constants.reshape((constants.shape[0], -1))
    c = np.linalg.solve(matrix, flat).reshape((plain.c.shape[0], *constants.shape[1:]))
    return BSpline.of(knots, c, k, True, axis)


def _plain_ends(bc_type: Any) -> Any:
    if bc_type is None or isinstance(bc_type, str):
        return bc_type
    return tuple([end if end is None or isinstance(end, str) else [(n, _zeros(v)) for n, v in end] for end in bc_type])


def _zeros(value: Any) -> Any:
    return np.zeros(as_value(stacked(value)).shape)


def _conditions(bc_type: Any, values: Any) -> tuple[list[Any], list[Any]]:
    """The derivatives at each end: their orders, and what they are."""
    named = {"clamped": [(1, 0.0)], "natural": [(2, 0.0)]}
    if bc_type is None or bc_type == "not-a-knot":
        return [], []
    sides = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    found = []
    for side in sides:
        given = [] if side is None else named[side] if isinstance(side, str) else side
        found.append([(order, stacked(value) + 0.0 * values[0]) for order, value in given])
    return found[0], found[1]


def _knots(x: Any, k: int, t: Any, bc_type: Any) -> Any:
    if t is not None:
        return value_of(t)
    first, last = x[:1], x[-1:]
    if k == 0:
        return concatenate([x, last])
    if k == 1:
        return concatenate([first, x, last])
    if bc_type is None or bc_type == "not-a-knot":
        half = (k + 1) // 2 if k % 2 else k // 2
        inner = x if k % 2 else (x[1:] + x[:-1]) / 2.0
        return concatenate([*[first] * (k + 1), inner[half:-half], *[last] * (k + 1)])
    return concatenate([*[first] * k, x, *[last] * k])


@returns_spline
def make_lsq_spline(
    x: Any, y: Any, t: Any, k: int = 3, w: Any = None, axis: int = 0, check_finite: bool = True, *, method: str = "qr"
) -> Any:
    """The spline with knots t that is nearest to the values y at the points x, with weights w.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import make_lsq_spline
    >>> x, t = np.linspace(0.0, 1.0, 9), np.repeat([0.0, 1.0], 4)
    >>> gt.grad(lambda y: make_lsq_spline(x, y, t).c.sum())(x**2).shape
    (9,)
    """
    points, values, knots = value_of(x), value_of(y), value_of(t)
    axis = one_axis(axis, len(values.shape))
    values = moveaxis(values, axis, 0)
    matrix = design(points, knots, k)
    flat = values.reshape((values.shape[0], -1))
    if w is not None:
        weights = value_of(w).reshape((-1, 1))
        matrix, flat = weights * matrix, weights * flat
    c = np.linalg.solve(matrix.T @ matrix, matrix.T @ flat)
    return BSpline.of(knots, c.reshape((c.shape[0], *values.shape[1:])), k, True, axis)


@original.differentiated
def splev(x: Any, tck: Any, der: int = 0, ext: int = 0) -> Any:
    """The values, or derivatives of order `der`, of the spline with knots, coefficients and degree `tck`.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import splev, splrep
    >>> x = np.linspace(0.0, 3.0, 7)
    >>> tck = splrep(x, x**2)
    >>> round(float(gt.grad(lambda x: splev(x, tck))(1.5)), 8)
    3.0
    """
    if isinstance(tck, theirs.BSpline):
        t, c, k = tck.tck
    else:
        t, c, k = tck
    if isinstance(c, list | tuple) and len(c) and np.ndim(c[0]):  # the coordinates of a curve
        return [splev(x, (t, each, k), der, ext) for each in c]
    t, c = value_of(t), value_of(c)
    known = known_numbers(t, "the knots")
    low, high = t[k], t[t.shape[0] - k - 1]
    given = value_of(x)
    numbers = off_tape(given)
    outside = (numbers < known[k]) | (numbers > known[len(known) - k - 1])
    if ext == 3 and der == 0:  # as in SciPy, where derivatives are extrapolated
        given = np.clip(given, low, high)
    found = BSpline.of(t, c[: t.shape[0] - k - 1], k)(given, der)
    if ext == 1:
        return where_op(outside, 0.0, found)
    if ext == 2 and bool(np.any(known_numbers(outside, "the points"))):
        raise argument_error(OperandError, "scipy.interpolate.splev: x is outside of the knots, and ext=2.", "ext=0")
    return found


@original.differentiated
def splint(a: Any, b: Any, tck: Any, full_output: int = 0) -> Any:
    """The integral of a spline from a to b, zero outside of its knots."""
    t, c, k = tck.tck if isinstance(tck, theirs.BSpline) else tck
    if isinstance(c, list | tuple) and len(c) and np.ndim(c[0]):
        return [splint(a, b, (t, each, k), full_output) for each in c]
    t, c = value_of(t), value_of(c)
    if full_output:
        raise argument_error(
            UnsupportedError, "scipy.interpolate.splint: full_output=1 is not differentiated.", "full_output=0"
        )
    return BSpline.of(t, c[: t.shape[0] - k - 1], k).integrate(a, b, False)
