"""Interpolation of values on grids: along one axis, and on regular grids of any number of axes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy import interpolate as theirs

from gradtape.errors import OperandError, UnsupportedError
from gradtape.extend import Tensor, argument_error, numbers_if_known, off_tape, one_axis
from gradtape.mirror import holds_tensor
from gradtape.ops import broadcast_arrays, einsum, moveaxis, stack
from gradtape.ops import where as where_op
from gradtape.scipy.callbacks import stacked
from gradtape.scipy.interpolate.bsplines import design, make_interp_spline
from gradtape.scipy.interpolate.piecewise import known_numbers, original, picked, place_axes, value_of

DEGREES = {"slinear": 1, "quadratic": 2, "cubic": 3, "quintic": 5}


def stand_in(value: Any) -> Any:
    """Zeros in the place of a tensor, for checks that look at shapes only."""
    value = stacked(value)
    return np.zeros(value.shape, value.dtype) if isinstance(value, Tensor) else value


def refuse_outside(name: str, is_outside: Any) -> None:
    """Raise if a point is outside, as far as is known."""
    known = numbers_if_known(is_outside) if isinstance(is_outside, Tensor) else is_outside
    if known is not None and np.any(known):
        raise argument_error(
            OperandError,
            f"scipy.interpolate.{name}: a point is outside of the points that values are given for.",
            "bounds_error=False, with fill_value= for what is outside",
        )


class interp1d(theirs.interp1d):  # type: ignore[misc]  # SciPy's name; SciPy has no types
    """Interpolation along one axis, of every `kind` of SciPy's.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import interp1d
    >>> gt.grad(lambda y: interp1d([0.0, 1.0, 2.0], y)(0.25))(np.array([1.0, 2.0, 4.0]))
    array([0.75, 0.25, 0.  ])
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        kind: Any = "linear",
        axis: int = -1,
        copy: bool = True,
        bounds_error: Any = None,
        fill_value: Any = np.nan,
        assume_sorted: bool = False,
    ) -> None:
        self.moving: tuple[Any, Any] | None = None
        self.given_kind, self.fill = kind, fill_value
        plain = (x, y, kind, axis, copy, bounds_error, fill_value, assume_sorted)
        if not holds_tensor((x, y, fill_value)):
            super().__init__(*plain)
            self.source = (np.asarray(x, float), np.asarray(y), assume_sorted)
            return
        points, values = value_of(x), value_of(y)
        known = known_numbers(points, "the points")
        fills = tuple(map(stand_in, fill_value)) if isinstance(fill_value, tuple) else stand_in(fill_value)
        super().__init__(known, np.zeros(values.shape), kind, axis, copy, bounds_error, fills, assume_sorted)
        self.source = (points, values.copy() if copy else values, assume_sorted)
        self.x, ordered = self.moving = self._sorted()
        self.y = moveaxis(ordered, 0, self.axis)
        self._fill_value_orig = fill_value

    def _sorted(self) -> tuple[Any, Any]:
        """The points in order, and the values with their axis first."""
        x, y, is_sorted = self.source
        x = value_of(x)
        y = moveaxis(value_of(y), self.axis, 0)
        if is_sorted:
            return x, y
        order = np.argsort(known_numbers(x, "the points"), kind="stable")
        return x[order], y[order]

    def __call__(self, x: Any) -> Any:
        """The values at the points x."""
        if self.moving is None and not holds_tensor((x,)):
            return super().__call__(x)
        points, values = self._sorted() if self.moving is None else self.moving
        given = value_of(x)
        flat = given.reshape((-1,))
        known, numbers = known_numbers(points, "the points"), off_tape(flat)
        below, above = numbers < known[0], numbers > known[-1]
        is_extrapolated = isinstance(self.fill, str) and self.fill == "extrapolate"
        if self.bounds_error and not is_extrapolated:
            refuse_outside("interp1d", below | above)
        found = self._at(flat, numbers, points, values, known)
        if not is_extrapolated:
            fills = self.fill if isinstance(self.fill, tuple) and len(self.fill) == 2 else (self.fill, self.fill)
            column = (-1,) + (1,) * (len(found.shape) - 1)
            found = where_op(below.reshape(column), stacked(fills[0]), found)
            found = where_op(above.reshape(column), stacked(fills[1]), found)
        return place_axes(found.reshape((*given.shape, *found.shape[1:])), len(given.shape), self.axis % self._y_ndim)

    @property
    def _y_ndim(self) -> int:
        return len(self.source[1].shape)

    def _at(self, flat: Any, numbers: Any, x: Any, y: Any, known: Any) -> Any:
        kind, last = self.given_kind, len(known) - 1
        column = (-1,) + (1,) * (len(y.shape) - 1)
        if kind in ("linear", 1, "slinear"):
            high = np.clip(np.searchsorted(known, numbers), 1, last)
            low_x, high_x = picked(x, high - 1), picked(x, high)
            share = ((flat - low_x) / (high_x - low_x)).reshape(column)
            return picked(y, high - 1) + share * (picked(y, high) - picked(y, high - 1))
        if kind in ("previous", "next", "nearest", "nearest-up", "zero", 0):
            middle = (known[1:] + known[:-1]) / 2.0
            if kind in ("nearest", "nearest-up"):
                spots = np.searchsorted(middle, numbers, side="left" if kind == "nearest" else "right")
            elif kind == "next":
                spots = np.searchsorted(known, numbers, side="left")
            else:
                spots = np.searchsorted(known, numbers, side="right") - 1
            return picked(y, np.clip(spots, 0, last)) + 0.0 * flat.reshape(column)
        degree = DEGREES[kind] if isinstance(kind, str) else int(kind)
        return make_interp_spline(x, y, k=degree)(flat)


class RegularGridInterpolator(theirs.RegularGridInterpolator):  # type: ignore[misc]  # SciPy has no types
    """Interpolation on a regular grid, differentiated by points, values and the coordinates of the grid.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import RegularGridInterpolator
    >>> table = RegularGridInterpolator(([0.0, 1.0], [0.0, 2.0]), np.array([[0.0, 2.0], [1.0, 5.0]]))
    >>> gt.grad(lambda p: table(p)[0])(np.array([0.5, 1.0]))
    array([2. , 1.5])
    """

    def __init__(
        self,
        points: Any,
        values: Any,
        method: str = "linear",
        bounds_error: bool = True,
        fill_value: Any = np.nan,
        **options: Any,
    ) -> None:
        self.moving: tuple[Any, Any] | None = None
        if not holds_tensor((points, values, fill_value)):
            super().__init__(points, values, method, bounds_error, fill_value, **options)
            self.source = (points, values, fill_value)
            return
        grid = [value_of(axis) for axis in points]
        table = value_of(values)
        known = tuple([known_numbers(axis, "the coordinates of the grid") for axis in grid])
        fill = None if fill_value is None else stand_in(fill_value)
        super().__init__(known, np.zeros(table.shape), method, bounds_error, fill, **options)
        self.source = (grid, table, fill_value)
        self.moving = self._in_order()
        self.fill_value = fill_value

    @property
    def grid(self) -> Any:
        """The coordinates, growing."""
        return super().grid if self.moving is None else tuple(self.moving[0])

    @property
    def values(self) -> Any:
        """The values, in the order of `grid`."""
        return super().values if self.moving is None else self.moving[1]

    def _in_order(self) -> tuple[list[Any], Any]:
        """Coordinates that grow, and the table to go with them."""
        points, values, _ = self.source
        grid, table = [value_of(axis) for axis in points], value_of(values)
        for number, axis in enumerate(grid):
            known = known_numbers(axis, "the coordinates of the grid")
            if len(known) > 1 and known[0] > known[-1]:
                grid[number] = axis[::-1]
                table = table[(slice(None),) * number + (slice(None, None, -1),)]
        return grid, table

    def __call__(self, xi: Any, method: Any = None, *, nu: Any = None) -> Any:
        """The values at the points xi, whose coordinates are along the last axis."""
        if self.moving is None and not holds_tensor((xi,)):
            return super().__call__(xi, method) if nu is None else super().__call__(xi, method, nu=nu)
        grid, table = self._in_order() if self.moving is None else self.moving
        method = self.method if method is None else method
        at = _points(xi, len(grid))
        shape, flat = at.shape[:-1], at.reshape((-1, len(grid)))
        known = [known_numbers(axis, "the coordinates of the grid") for axis in grid]
        numbers = off_tape(flat)
        outside: Any = False
        for number, axis in enumerate(known):
            outside = outside | (numbers[:, number] < axis[0]) | (numbers[:, number] > axis[-1])
        if self.bounds_error:
            refuse_outside("RegularGridInterpolator", outside)
        found = self._at(method, flat, numbers, grid, table, known, nu)
        fill = self.source[2]
        if not self.bounds_error and fill is not None:
            found = where_op(outside.reshape((-1,) + (1,) * (len(found.shape) - 1)), stacked(fill), found)
        return found.reshape((*shape, *found.shape[1:]))

    def _at(self, method: str, flat: Any, numbers: Any, grid: list[Any], table: Any, known: list[Any], nu: Any) -> Any:
        count = len(grid)
        if method in ("linear", "nearest"):
            lows = [
                np.clip(np.searchsorted(axis, numbers[:, n], side="right") - 1, 0, len(axis) - 2)
                for n, axis in enumerate(known)
            ]
            shares = [
                (flat[:, n] - picked(axis, lows[n])) / (picked(axis, lows[n] + 1) - picked(axis, lows[n]))
                for n, axis in enumerate(grid)
            ]
            column = (-1,) + (1,) * (len(table.shape) - count)
            if method == "nearest":
                spots = [low + (off_tape(share) > 0.5) for low, share in zip(lows, shares, strict=True)]
                return _gathered(table, spots, count) + 0.0 * flat[:, 0].reshape(column)
            total: Any = 0.0
            for corner in itertools.product((0, 1), repeat=count):
                weight: Any = 1.0
                for side, share in zip(corner, shares, strict=True):
                    weight = weight * (share if side else 1.0 - share)
                spots = [low + side for low, side in zip(lows, corner, strict=True)]
                total = total + weight.reshape(column) * _gathered(table, spots, count)
            return total
        if method not in ("slinear", "cubic", "quintic"):
            raise argument_error(
                UnsupportedError,
                f"scipy.interpolate.RegularGridInterpolator: method={method!r} is not differentiated.",
                "linear, nearest, slinear, cubic or quintic",
            )
        orders = [0] * count if nu is None else list(nu)
        found = table
        for n, axis in enumerate(grid):
            knots = make_interp_spline(axis, np.eye(len(known[n])), k=DEGREES[method]).t
            matrix = design(axis, knots, DEGREES[method])
            weights = np.linalg.solve(matrix.T, design(flat[:, n], knots, DEGREES[method], orders[n]).T).T
            found = einsum("pi,i...->p...", weights, found) if n == 0 else einsum("pi,pi...->p...", weights, found)
        return found


def _gathered(table: Any, spots: list[Any], count: int) -> Any:
    """The elements of a table at these places, for each point."""
    sizes = table.shape[:count]
    place: Any = 0
    for spot, size in zip(spots, sizes, strict=True):
        place = place * size + spot
    return picked(table.reshape((-1, *table.shape[count:])), place)


def _points(xi: Any, count: int) -> Any:
    """Points with their coordinates along the last axis, from an array or from a tuple of coordinates."""
    if isinstance(xi, tuple):
        parts = broadcast_arrays(*[value_of(part) for part in xi])
        return stack(list(parts), axis=-1)
    at = value_of(xi)
    if len(at.shape) == 1:
        at = at.reshape((-1, 1)) if count == 1 else at.reshape((1, -1))
    if at.shape[-1] != count:
        raise argument_error(
            OperandError,
            f"scipy.interpolate: the points have {at.shape[-1]} coordinates, and the grid {count} axes.",
            "one coordinate for each axis, along the last axis of xi",
        )
    return at


@original.differentiated
def interpn(
    points: Any, values: Any, xi: Any, method: str = "linear", bounds_error: bool = True, fill_value: Any = np.nan
) -> Any:
    """Interpolation on a regular grid at the points xi; see `RegularGridInterpolator`.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import interpn
    >>> table = np.array([[0.0, 2.0], [1.0, 5.0]])
    >>> gt.grad(lambda p: interpn(([0.0, 1.0], [0.0, 2.0]), table, p)[0])(np.array([0.5, 1.0]))
    array([2. , 1.5])
    """
    if method == "splinef2d":
        raise argument_error(
            UnsupportedError, 'scipy.interpolate.interpn: method="splinef2d" is FITPACK\'s.', 'method="cubic"'
        )
    return RegularGridInterpolator(points, values, method, bounds_error, fill_value)(xi)


@original.differentiated
def pchip_interpolate(xi: Any, yi: Any, x: Any, der: Any = 0, axis: int = 0) -> Any:
    """The values or derivatives of `PchipInterpolator(xi, yi)` at x; a list of them for several orders `der`."""
    from gradtape.scipy.interpolate.piecewise import PchipInterpolator

    axis = one_axis(axis, len(value_of(yi).shape))
    spline = PchipInterpolator(xi, yi, axis)
    return spline(x, der) if np.ndim(der) == 0 else [spline(x, order) for order in der]
