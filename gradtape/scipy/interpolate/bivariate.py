"""FITPACK's splines of two variables on a rectangular grid."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate as theirs

from gradtape.errors import OperandError, ShapeError, UnsupportedError
from gradtape.extend import argument_error
from gradtape.mirror import holds_tensor
from gradtape.ops import broadcast_arrays
from gradtape.scipy.interpolate.bsplines import BSpline, basis, derived, pieces_of
from gradtape.scipy.interpolate.fitpack import _ends, _interpolating
from gradtape.scipy.interpolate.piecewise import known_numbers, original, picked, value_of


def _along(t: Any, c: Any, k: int, nu: int, axis: int) -> tuple[Any, Any, int]:
    """Knots, coefficients and degree after `nu` derivatives along one of two axes."""
    moved = c if axis == 0 else c.T
    t, moved, k = derived(t, moved, k, nu)
    return t, moved if axis == 0 else moved.T, k


def _local(t: Any, k: int, at: Any) -> tuple[list[Any], Any]:
    """The splines that are not zero at each point, and the number of the first of them; points outside are clamped."""
    known = known_numbers(t, "the knots")
    inside = np.clip(at, t[k], t[t.shape[0] - k - 1])
    pieces = pieces_of(inside, known, k)
    return basis(inside, t, k, pieces), pieces - k


def surface(tck: Any, x: Any, y: Any, dx: int, dy: int) -> Any:
    """A spline of two variables, or a partial derivative, at points with coordinates of the same shape."""
    tx, ty, c, kx, ky = tck
    c = c.reshape((tx.shape[0] - kx - 1, ty.shape[0] - ky - 1))
    tx, c, kx = _along(tx, c, kx, dx, 0)
    ty, c, ky = _along(ty, c, ky, dy, 1)
    rows, columns = c.shape
    flat = c.reshape((rows * columns,))
    first, low = _local(tx, kx, x.reshape((-1,)))
    second, left = _local(ty, ky, y.reshape((-1,)))
    total: Any = 0.0
    for i, one in enumerate(first):
        line: Any = 0.0
        for j, other in enumerate(second):
            line = line + other * picked(flat, (low + i) * columns + left + j)
        total = total + one * line
    return total.reshape(x.shape)


def _evaluated(tck: Any, x: Any, y: Any, dx: int, dy: int, grid: bool) -> Any:
    x, y = value_of(x), value_of(y)
    if grid:
        if len(x.shape) > 1 or len(y.shape) > 1:
            raise argument_error(
                ShapeError,
                f"scipy.interpolate: grid=True with x of shape {x.shape} and y of shape {y.shape}.",
                "vectors; or grid=False",
            )
        x, y = broadcast_arrays(x.reshape((-1, 1)), y.reshape((1, -1)))
    else:
        x, y = broadcast_arrays(x, y)
    return surface(tck, x, y, dx, dy)


class RectBivariateSpline(theirs.RectBivariateSpline):  # type: ignore[misc]  # SciPy has no types
    """The spline through values z on the grid of x and y (s=0), by these and by where it is evaluated.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import RectBivariateSpline
    >>> x, y = np.arange(5.0), np.arange(6.0)
    >>> height = RectBivariateSpline(x, y, x[:, None] * y**2)
    >>> gt.grad(lambda at: height.ev(at[0], at[1]))(np.array([1.5, 2.0])).round(6)
    array([4., 6.])
    """

    moving: tuple[Any, Any, Any, int, int] | None = None
    plain: Any = None
    """The spline of SciPy's, for a derivative of one without tensors."""

    def __init__(
        self, x: Any, y: Any, z: Any, bbox: Any = (None,) * 4, kx: int = 3, ky: int = 3, s: Any = 0, **options: Any
    ) -> None:
        if not holds_tensor((x, y, z, bbox, s)):
            theirs.RectBivariateSpline.__init__(self, x, y, z, bbox, kx, ky, s, **options)
            return
        if holds_tensor((s,)) or s != 0:
            raise argument_error(
                UnsupportedError,
                "scipy.interpolate.RectBivariateSpline: with s > 0 FITPACK adds knots until the residual is about s, "
                "which has no derivative.",
                "s=0; or make_smoothing_spline along each axis",
            )
        points, values = (value_of(x), value_of(y)), value_of(z)
        if values.shape != (points[0].shape[0], points[1].shape[0]):
            raise argument_error(
                ShapeError,
                f"scipy.interpolate.RectBivariateSpline: z has shape {values.shape}, for {points[0].shape[0]} by "
                f"{points[1].shape[0]} points.",
                "z of shape (x.size, y.size)",
            )
        tx, c, _ = _interpolating(points[0], values, kx, _ends(points[0], bbox[0], bbox[1]))
        ty, c, _ = _interpolating(points[1], c[: values.shape[0]].T, ky, _ends(points[1], bbox[2], bbox[3]))
        self.hold((tx, ty, c[: values.shape[1]].T.reshape((-1,)), kx, ky))

    def hold(self, tck: Any) -> None:
        """Keep a spline with tensors."""
        self.moving = tck
        self.tck, self.degrees = tck[:3], tck[3:]

    @property
    def _spline(self) -> Any:
        return (*map(value_of, self.tck), *self.degrees)

    def __call__(self, x: Any, y: Any, dx: int = 0, dy: int = 0, grid: bool = True) -> Any:
        """The values, or partial derivatives, on the grid of x and y, or for grid=False at points."""
        if self.moving is None and not holds_tensor((x, y)):
            return super().__call__(x, y, dx, dy, grid) if self.plain is None else self.plain(x, y, dx, dy, grid)
        return _evaluated(self._spline, x, y, dx, dy, grid)

    def ev(self, xi: Any, yi: Any, dx: int = 0, dy: int = 0) -> Any:
        """The values, or partial derivatives, at points."""
        return self(xi, yi, dx, dy, grid=False)

    def integral(self, xa: Any, xb: Any, ya: Any, yb: Any) -> Any:
        """The integral over a rectangle, zero outside of the grid."""
        if self.moving is None and not holds_tensor((xa, xb, ya, yb)):
            return super().integral(xa, xb, ya, yb)
        tx, ty, c, kx, ky = self._spline
        c = c.reshape((tx.shape[0] - kx - 1, ty.shape[0] - ky - 1))
        lines = BSpline.of(tx, c, kx).integrate(xa, xb, False)
        return BSpline.of(ty, lines, ky).integrate(ya, yb, False)

    def partial_derivative(self, dx: int, dy: int) -> Any:
        """A partial derivative as a spline."""
        made = RectBivariateSpline.__new__(RectBivariateSpline)
        if self.moving is None:
            found: Any = super() if self.plain is None else self.plain
            made.plain = found.partial_derivative(dx, dy)
            made.tck, made.degrees = made.plain.tck, made.plain.degrees
            return made
        tx, ty, c, kx, ky = self.moving
        c = c.reshape((tx.shape[0] - kx - 1, ty.shape[0] - ky - 1))
        tx, c, kx = _along(tx, c, kx, dx, 0)
        ty, c, ky = _along(ty, c, ky, dy, 1)
        made.hold((tx, ty, c.reshape((-1,)), kx, ky))
        return made

    def get_residual(self) -> Any:
        """The sum of the squares of what is left of the values."""
        return super().get_residual() if self.moving is None else 0.0


@original.differentiated
def bisplev(x: Any, y: Any, tck: Any, dx: int = 0, dy: int = 0) -> Any:
    """A spline of two variables, or a partial derivative, on the grid of x and y.

    >>> import gradtape as gt
    >>> from gradtape.scipy.interpolate import bisplev
    >>> plane = ([0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 2.0, 3.0], 1, 1)
    >>> gt.grad(lambda x: bisplev(x, 0.5, plane))(gt.tensor(0.25))
    Tensor(2.)
    """
    tx, ty, c, kx, ky = tck
    if not (0 <= dx < kx and 0 <= dy < ky) and (dx or dy):
        raise argument_error(
            OperandError, f"scipy.interpolate.bisplev: dx={dx} and dy={dy} for degrees {kx} and {ky}.", "lower orders"
        )
    found = _evaluated((value_of(tx), value_of(ty), value_of(c), kx, ky), x, y, dx, dy, True)
    if found.shape[0] > 1:
        return found
    return found[0] if found.shape[1] > 1 else found[0, 0]
