"""FITPACK's splines of one variable, as functions (`splrep` ...) and as objects (`UnivariateSpline` ...).

A spline through all values, a spline of least squares with given knots and a polynomial of least squares are linear
functions of the values. They have derivatives by these, and by the points, the weights and the knots. For a smoothing
factor `s` in between, FITPACK adds knots until the residual is small enough: that has no derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate as theirs

from gradtape.errors import OperandError, ShapeError, UnsupportedError
from gradtape.extend import argument_error, one_axis
from gradtape.mirror import holds_tensor
from gradtape.ops import concatenate, moveaxis, sqrt, stack
from gradtape.scipy.callbacks import solution, stacked
from gradtape.scipy.interpolate.bsplines import (
    BSpline,
    derived,
    make_interp_spline,
    make_lsq_spline,
    returns_spline,
    splev,
    splint,
)
from gradtape.scipy.interpolate.gridded import stand_in
from gradtape.scipy.interpolate.piecewise import known_numbers, original, value_of

Spline = tuple[Any, Any, int]
"""Knots, coefficients (followed by zeros, as many as there are knots in all) and degree."""

SMOOTHING_FIX = (
    "s=0 for a spline through all values; knots of your own (t=, or LSQUnivariateSpline); or "
    "make_smoothing_spline(x, y, lam=...)"
)


def _smoothing_error(name: str, s: Any) -> Exception:
    return argument_error(
        UnsupportedError,
        f"scipy.interpolate.{name}: with s={s} FITPACK adds knots until the residual is about s, which has no "
        f"derivative.",
        SMOOTHING_FIX,
    )


def _padded(c: Any, k: int) -> Any:
    """Coefficients as FITPACK has them: followed by k + 1 zeros."""
    return concatenate([c, np.zeros((k + 1, *c.shape[1:]))], axis=0)


def _ends(x: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """The ends of the interval of a spline as vectors of one element: the first and last point if none are given."""
    return (
        x[:1] if low is None else value_of(low).reshape((1,)),
        x[-1:] if high is None else value_of(high).reshape((1,)),
    )


def _interpolating(x: Any, y: Any, k: int, ends: tuple[Any, Any]) -> Spline:
    """The spline through all values, with FITPACK's knots: points, or for an even degree the middles between points."""
    half = (k + 1) // 2 if k % 2 else k // 2
    inner = x if k % 2 else (x[1:] + x[:-1]) / 2.0
    knots = concatenate([*[ends[0]] * (k + 1), inner[half : inner.shape[0] - half], *[ends[1]] * (k + 1)])
    return knots, _padded(make_interp_spline(x, y, k, knots).c, k), k


def _least_squares(x: Any, y: Any, w: Any, t: Any, k: int, ends: tuple[Any, Any]) -> Spline:
    """The spline with the inner knots t that is nearest to the values."""
    inner = [] if t is None else [value_of(t)]
    knots = concatenate([*[ends[0]] * (k + 1), *inner, *[ends[1]] * (k + 1)])
    return knots, _padded(make_lsq_spline(x, y, knots, k, w).c, k), k


def _numbers(value: Any, what: str) -> Any:
    return None if value is None else known_numbers(value_of(value), what)


def _fitted(name: str, x: Any, y: Any, w: Any, ends: Any, k: int, s: Any, t: Any) -> tuple[Spline, int, str]:
    """The spline of `splrep`, how it was found (-1: through all values, -2: a polynomial) and FITPACK's message."""
    points, values = value_of(x), value_of(y)
    known = known_numbers(points, "the points")
    limits = [None if end is None else float(_numbers(end, "the ends of the interval")) for end in ends]
    ends = _ends(points, *ends)
    if t is not None:
        inner = _numbers(t, "the knots")
        _, _, how, message = theirs.splrep(known, np.zeros(len(known)), None, *limits, k, -1, None, inner, True)
        if how > 0:
            raise argument_error(OperandError, f"scipy.interpolate.{name}: {message}", "other knots")
        return _least_squares(points, values, w, t, k, ends), how, message
    if s is None and w is None:
        s = 0.0
    if s is not None and not holds_tensor((s,)) and s == 0:
        _, _, how, message = theirs.splrep(known, np.zeros(len(known)), None, *limits, k, s=0.0, full_output=True)
        return _interpolating(points, values, k, ends), how, message
    weights, numbers = _numbers(w, "the weights"), known_numbers(values, "the values")
    factor = None if s is None else float(_numbers(s, "the smoothing factor"))
    _, _, how, message = theirs.splrep(known, numbers, weights, *limits, k, s=factor, full_output=True)
    if how != -2:
        raise _smoothing_error(name, "len(x) - sqrt(2 len(x))" if factor is None else f"{factor:g}")
    return _least_squares(points, values, w, None, k, ends), how, message


def _residual(x: Any, y: Any, w: Any, tck: Spline) -> Any:
    apart = value_of(y) - splev(value_of(x), tck)
    return (apart**2 if w is None else (value_of(w) * apart) ** 2).sum()


@original.differentiated
def splrep(
    x: Any,
    y: Any,
    w: Any = None,
    xb: Any = None,
    xe: Any = None,
    k: int = 3,
    task: int = 0,
    s: Any = None,
    t: Any = None,
    full_output: int = 0,
    per: int = 0,
    quiet: int = 1,
) -> Any:
    """Knots, coefficients and degree of the spline through the values y at the points x, or with given knots t.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import splev, splrep
    >>> x = np.arange(5.0)
    >>> gt.grad(lambda y: splev(2.0, splrep(x, y)))(x**2).round(6) + 0.0
    array([0., 0., 1., 0., 0.])
    """
    if per or task == 1:
        raise argument_error(
            UnsupportedError,
            f"scipy.interpolate.splrep: {'a periodic spline' if per else 'task=1'} is not differentiated.",
            'CubicSpline(x, y, bc_type="periodic")' if per else "task=0",
        )
    if t is None and task == -1:
        raise argument_error(OperandError, "scipy.interpolate.splrep: task=-1 without knots.", "t=, the inner knots")
    tck, how, message = _fitted("splrep", x, y, w, (xb, xe), k, s, t)
    return (tck, _residual(x, y, w, tck), how, message) if full_output else tck


def _chord_lengths(coordinates: Any) -> Any:
    """The share of the way along the points of a curve that each is at; coordinates along the last axis."""
    steps = coordinates[1:] - coordinates[:-1]
    way = sqrt((steps * steps).sum(axis=-1)).cumsum()
    return concatenate([np.zeros(1), way / way[-1]])


@original.differentiated
def splprep(
    x: Any,
    w: Any = None,
    u: Any = None,
    ub: Any = None,
    ue: Any = None,
    k: int = 3,
    task: int = 0,
    s: Any = None,
    t: Any = None,
    full_output: int = 0,
    nest: Any = None,
    per: int = 0,
    quiet: int = 1,
) -> Any:
    """The spline curve through points, a vector of each coordinate: ([knots, coefficients, degree], parameters).

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import splev, splprep
    >>> x = np.arange(5.0)
    >>> def height(y):
    ...     tck, u = splprep([x, y], s=0)
    ...     return splev(u[2], tck)[1]
    >>> gt.grad(height)(x**2).round(6) + 0.0
    array([0., 0., 1., 0., 0.])
    """
    if per or task == 1 or full_output:
        raise argument_error(
            UnsupportedError,
            f"scipy.interpolate.splprep: per={per}, task={task}, full_output={full_output} with tensors.",
            "per=0, task=0 and full_output=0",
        )
    curve = stack([value_of(part) for part in x], axis=-1)
    at = _chord_lengths(curve) if u is None else value_of(u)
    ends = _ends(at, ub if u is not None else None, ue if u is not None else None)
    if t is not None:
        knots = value_of(t)
        return [knots, list(moveaxis(make_lsq_spline(at, curve, knots, k, w).c, 1, 0)), k], at
    if s is None or holds_tensor((s,)) or s != 0:
        raise _smoothing_error("splprep", "len(u) - sqrt(2 len(u))" if s is None else stand_in(s))
    knots, c, k = _interpolating(at, curve, k, ends)
    return [knots, list(moveaxis(c[: c.shape[0] - k - 1], 1, 0)), k], at


def _refuse_smoothing(name: str, s: Any, **options: Any) -> None:
    if holds_tensor((s,)) or s != 0:
        raise _smoothing_error(name, stand_in(s))
    given = [key for key, value in options.items() if value is not None]
    if given:
        raise argument_error(OperandError, f"scipy.interpolate.{name}: s=0 with {given[0]}=.", f"no {given[0]}=")


@returns_spline
def make_splrep(
    x: Any,
    y: Any,
    *,
    w: Any = None,
    xb: Any = None,
    xe: Any = None,
    k: int = 3,
    s: Any = 0,
    t: Any = None,
    nest: Any = None,
    bc_type: Any = None,
) -> Any:
    """The spline through the values y at the points x, for s=0."""
    _refuse_smoothing("make_splrep", s, w=w, t=t, nest=nest)
    return make_interp_spline(x, y, k, bc_type=bc_type)


@original.differentiated
def make_splprep(
    x: Any,
    *,
    w: Any = None,
    u: Any = None,
    ub: Any = None,
    ue: Any = None,
    k: int = 3,
    s: Any = 0,
    t: Any = None,
    nest: Any = None,
    bc_type: Any = None,
) -> Any:
    """The spline curve through points, a vector of each coordinate, and its parameters, for s=0."""
    _refuse_smoothing("make_splprep", s, w=w, t=t, nest=nest)
    curve = stack([value_of(part) for part in x], axis=-1)
    at = _chord_lengths(curve) if u is None else value_of(u)
    return make_interp_spline(at, moveaxis(curve, 0, 1), k, axis=1), at


@returns_spline
def make_smoothing_spline(x: Any, y: Any, w: Any = None, lam: Any = None, *, axis: int = 0) -> Any:
    """The natural cubic spline with the least `sum(w * (y - f(x))**2) + lam * integral of f''**2`; lam is to be given.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import make_smoothing_spline
    >>> x = np.arange(5.0)
    >>> gt.grad(lambda lam: make_smoothing_spline(x, x**2, lam=lam)(2.0))(0.0).round(6)
    np.float64(-1.714286)
    """
    if lam is None:
        raise argument_error(
            UnsupportedError,
            "scipy.interpolate.make_smoothing_spline: lam=None, which cross-validation finds without a derivative.",
            "lam=, the weight of the second derivative",
        )
    points, values, weight = value_of(x), value_of(y), value_of(lam)
    axis = one_axis(axis, len(values.shape))
    values = moveaxis(values, axis, 0)
    count = points.shape[0]
    if count < 5 or values.shape[0] != count:
        raise argument_error(
            ShapeError,
            f"scipy.interpolate.make_smoothing_spline: {count} points and {values.shape[0]} values.",
            "at least 5 points, and a value for each",
        )
    # the values g at the points: the integral is g' Q inverse(R) Q' g for the matrices of Green and Silverman
    h = points[1:] - points[:-1]
    unit = np.eye(count)
    before, after = (1.0 / h[:-1]).reshape((-1, 1)), (1.0 / h[1:]).reshape((-1, 1))
    bends = before * unit[:-2] - (before + after) * unit[1:-1] + after * unit[2:]
    inner = np.eye(count - 2)
    gram = ((h[:-1] + h[1:]) / 3.0).reshape((-1, 1)) * inner
    off = np.concatenate([inner[1:], np.zeros((1, count - 2))]) * (h[1:] / 6.0).reshape((-1, 1))
    penalty = bends.T @ np.linalg.solve(gram + off + off.T, bends)
    weights = np.ones(count) if w is None else value_of(w)
    flat = values.reshape((count, -1))
    smooth = np.linalg.solve(weights.reshape((-1, 1)) * unit + weight * penalty, weights.reshape((-1, 1)) * flat)
    found = make_interp_spline(points, smooth.reshape(values.shape), 3, bc_type="natural")
    return BSpline.of(found.t, found.c, 3, True, axis)


# -- what is done with a spline


def _curves(tck: Any) -> list[Spline] | None:
    """The splines of the coordinates of a curve, or None for a spline."""
    t, c, k = tck
    if isinstance(c, list | tuple) and len(c) and np.ndim(c[0]):
        return [(t, each, k) for each in c]
    return None


def _parts(tck: Any) -> Spline:
    t, c, k = tck
    return value_of(t), value_of(c), int(k)


@original.differentiated
def splder(tck: Any, n: int = 1) -> Any:
    """The derivative of order n of a spline."""
    if isinstance(tck, theirs.BSpline):
        return BSpline.of(*tck.tck).derivative(n) if not isinstance(tck, BSpline) else tck.derivative(n)
    if n < 0:
        return splantider(tck, -n)
    t, c, k = _parts(tck)
    if n > k:
        raise argument_error(
            OperandError, f"scipy.interpolate.splder: order n={n} for a spline of degree {k}.", "n up to the degree"
        )
    t, c, degree = derived(t, c[: t.shape[0] - k - 1], k, n)
    return t, _padded(c, degree), degree


@original.differentiated
def splantider(tck: Any, n: int = 1) -> Any:
    """The integral from the first knot, n times, of a spline."""
    if isinstance(tck, theirs.BSpline):
        return BSpline.of(*tck.tck).antiderivative(n) if not isinstance(tck, BSpline) else tck.antiderivative(n)
    if n < 0:
        return splder(tck, -n)
    t, c, k = _parts(tck)
    found = BSpline.of(t, c[: t.shape[0] - k - 1], k).antiderivative(n)
    last = [found.c[-1:]] * (found.k + 1) if n else [np.zeros((k + 1, *c.shape[1:]))]
    return found.t, concatenate([found.c, *last], axis=0), found.k


@original.differentiated
def spalde(x: Any, tck: Any) -> Any:
    """All derivatives of a spline at a point, or a list of them for several points."""
    curves = _curves(tck)
    if curves is not None:
        return [spalde(x, each) for each in curves]
    at = value_of(x)
    rows = stack([splev(at, tck, order) for order in range(int(tck[2]) + 1)], axis=-1)
    return list(rows) if len(at.shape) else rows


@original.differentiated
def sproot(tck: Any, mest: int = 10) -> Any:
    """Where a cubic spline is zero, moving with whatever it depends on."""
    curves = _curves(tck) if not isinstance(tck, theirs.BSpline) else None
    if curves is not None:
        return [sproot(each, mest) for each in curves]
    t, c, k = _parts(tck.tck if isinstance(tck, theirs.BSpline) else tck)
    numbers = known_numbers(t, "the knots"), known_numbers(c, "the coefficients"), k
    found = theirs.sproot(numbers, mest)
    if not len(found):
        return found
    return solution(lambda z: splev(z, (t, c, k)), found, "scipy.interpolate: roots", polish=False)


# -- objects

OUTSIDE = {0: 0, "extrapolate": 0, 1: 1, "zeros": 1, 2: 2, "raise": 2, 3: 3, "const": 3}
"""What `ext` means for points outside of the knots."""


def _outside(ext: Any) -> int:
    if ext not in OUTSIDE:
        raise argument_error(OperandError, f"scipy.interpolate: ext={ext!r}.", f"one of {list(OUTSIDE)}")
    return OUTSIDE[ext]


class UnivariateSpline(theirs.UnivariateSpline):  # type: ignore[misc]  # SciPy has no types
    """A spline through values (s=0), or the polynomial of least squares where that is near enough to them.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import UnivariateSpline
    >>> x = np.arange(5.0)
    >>> gt.grad(lambda y: UnivariateSpline(x, y, s=0).integral(0.0, 4.0))(x).round(4)
    array([0.3333, 1.3333, 0.6667, 1.3333, 0.3333])
    """

    moving: Spline | None = None
    residual: Any = None

    def __init__(
        self,
        x: Any,
        y: Any,
        w: Any = None,
        bbox: Any = (None, None),
        k: int = 3,
        s: Any = None,
        ext: Any = 0,
        check_finite: bool = False,
    ) -> None:
        if not holds_tensor((x, y, w, bbox, s)):
            theirs.UnivariateSpline.__init__(self, x, y, w, bbox, k, s, ext, check_finite)
            return
        factor = value_of(x).shape[0] if s is None else s
        self.hold(_fitted("UnivariateSpline", x, y, w, bbox, k, factor, None)[0], ext)
        self.residual = _residual(x, y, w, self._eval_args)

    def hold(self, tck: Spline, ext: Any) -> None:
        """Keep a spline with tensors."""
        self.moving = self._eval_args = tck
        self.ext = _outside(ext)

    @classmethod
    def _from_tck(cls, tck: Spline, ext: int = 0) -> Any:
        if not holds_tensor(tck):
            return super()._from_tck(tck, ext)
        made = cls.__new__(cls)
        made.hold(tck, ext)
        return made

    def __call__(self, x: Any, nu: int = 0, ext: Any = None) -> Any:
        """The values, or the derivatives of order `nu`, at the points x."""
        if self.moving is None and not holds_tensor((x,)):
            return super().__call__(x, nu, ext)
        return splev(x, self._eval_args, nu, self.ext if ext is None else _outside(ext))

    def integral(self, a: Any, b: Any) -> Any:
        """The integral from a to b, zero outside of the knots."""
        return splint(a, b, self._eval_args)

    def derivatives(self, x: Any) -> Any:
        """The value and all derivatives at a point."""
        return spalde(x, self._eval_args)

    def derivative(self, n: int = 1) -> Any:
        """The derivative as a spline."""
        return UnivariateSpline._from_tck(splder(self._eval_args, n), 1 if self.ext == 3 else self.ext)

    def antiderivative(self, n: int = 1) -> Any:
        """The integral from the first knot as a spline."""
        return UnivariateSpline._from_tck(splantider(self._eval_args, n), self.ext)

    def roots(self) -> Any:
        """Where a cubic spline is zero."""
        if self.moving is None:
            return super().roots()
        t, _, k = self.moving
        if k != 3:
            raise NotImplementedError(
                f"roots: this spline has the degree {k}, and the zeros of cubic ones only are found.\n"
                "  fix: make it with k=3, or find a zero with gradtape.scipy.optimize.brentq"
            )
        return sproot(self.moving, 3 * (t.shape[0] - 7))

    def get_knots(self) -> Any:
        """The knots between the ends, and these."""
        if self.moving is None:
            return super().get_knots()
        t, _, k = self.moving
        return t[k : t.shape[0] - k]

    def get_coeffs(self) -> Any:
        """The coefficients."""
        if self.moving is None:
            return super().get_coeffs()
        t, c, k = self.moving
        return c[: t.shape[0] - k - 1]

    def get_residual(self) -> Any:
        """The sum of the squares of what is left of the values, with their weights."""
        return super().get_residual() if self.moving is None else self.residual

    def set_smoothing_factor(self, s: Any) -> None:
        """Change the smoothing factor; not of a spline with tensors."""
        if self.moving is not None or holds_tensor((s,)):
            raise argument_error(
                UnsupportedError,
                "scipy.interpolate.UnivariateSpline: the smoothing factor of a spline with tensors cannot be changed.",
                "a new spline, UnivariateSpline(x, y, s=...)",
            )
        super().set_smoothing_factor(s)


class InterpolatedUnivariateSpline(UnivariateSpline, theirs.InterpolatedUnivariateSpline):  # type: ignore[misc]
    """The spline through values, by these and by the points.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import InterpolatedUnivariateSpline
    >>> x = np.arange(5.0)
    >>> gt.grad(lambda y: InterpolatedUnivariateSpline(x, y, k=1)(0.25))(x)
    array([0.75, 0.25, 0.  , 0.  , 0.  ])
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        w: Any = None,
        bbox: Any = (None, None),
        k: int = 3,
        ext: Any = 0,
        check_finite: bool = False,
    ) -> None:
        if not holds_tensor((x, y, w, bbox)):
            theirs.InterpolatedUnivariateSpline.__init__(self, x, y, w, bbox, k, ext, check_finite)
            return
        self.hold(_fitted("InterpolatedUnivariateSpline", x, y, None, bbox, k, 0.0, None)[0], ext)
        self.residual = 0.0


class LSQUnivariateSpline(UnivariateSpline, theirs.LSQUnivariateSpline):  # type: ignore[misc]
    """The spline with given inner knots t that is nearest to values, by these, the points, the weights and the knots.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import LSQUnivariateSpline
    >>> x = np.linspace(0.0, 1.0, 9)
    >>> gt.grad(lambda y: LSQUnivariateSpline(x, y, [0.5])(0.3))(x**2).shape
    (9,)
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        t: Any,
        w: Any = None,
        bbox: Any = (None, None),
        k: int = 3,
        ext: Any = 0,
        check_finite: bool = False,
    ) -> None:
        if not holds_tensor((x, y, t, w, bbox)):
            theirs.LSQUnivariateSpline.__init__(self, x, y, t, w, bbox, k, ext, check_finite)
            return
        self.hold(_fitted("LSQUnivariateSpline", x, y, w, bbox, k, None, stacked(t))[0], ext)
        self.residual = _residual(x, y, w, self._eval_args)
