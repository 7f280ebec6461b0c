"""Smooth cubic interpolation on the triangles between scattered points of the plane."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate as theirs
from scipy.spatial import Delaunay

from gradtape.errors import ShapeError, UnsupportedError
from gradtape.extend import argument_error, off_tape
from gradtape.mirror import holds_tensor
from gradtape.ops import concatenate, sqrt
from gradtape.ops import where as where_op
from gradtape.scipy.interpolate.gridded import _points
from gradtape.scipy.interpolate.piecewise import known_numbers, picked, value_of
from gradtape.scipy.sparse import coo_array
from gradtape.scipy.sparse.linalg import spsolve


def barycentric(places: Any, flat: Any) -> Any:
    """The coordinates of points with respect to the corners of one simplex for each: places of shape (n, d + 1, d)."""
    edges = places[:, 1:] - places[:, :1]
    shares = np.linalg.solve(np.swapaxes(edges, 1, 2), (flat - places[:, 0])[:, :, None])[:, :, 0]
    return concatenate([1.0 - shares.sum(axis=1, keepdims=True), shares], axis=1)


def estimated_gradients(points: Any, tri: Any, values: Any) -> Any:
    """The gradients at points of the plane, of shape (points, 2, columns), for values of shape (points, columns).

    They make the sum over all edges of the integral of the squared second derivative of the cubic along the edge least.
    For an edge e from i to j, of length h, the terms in the slopes a = e g_i and b = e g_j are
    4 (a a + a b + b b) / h^3 - 12 (a + b) (f_j - f_i) / h^3: the condition on g_i is the sum over all neighbours of
    e (4 a + 2 b - 6 (f_j - f_i)) / h^3 = 0.
    """
    first, neighbours = tri.vertex_neighbor_vertices
    count = points.shape[0]
    start = np.repeat(np.arange(count), np.diff(first))
    edge = picked(points, neighbours) - picked(points, start)
    weight = 1.0 / sqrt((edge * edge).sum(axis=1)) ** 3
    blocks = (edge[:, :, None] * edge[:, None, :] * weight[:, None, None]).reshape((-1,))
    row = np.repeat(2 * start[:, None] + np.arange(2), 2, axis=1).reshape(-1)
    own = np.tile(2 * start[:, None] + np.arange(2), (1, 2)).reshape(-1)
    other = np.tile(2 * neighbours[:, None] + np.arange(2), (1, 2)).reshape(-1)
    data = concatenate([4.0 * blocks, 2.0 * blocks])
    matrix = coo_array((data, (np.concatenate([row, row]), np.concatenate([own, other]))), (2 * count, 2 * count))
    rise = picked(values, neighbours) - picked(values, start)
    pull = 6.0 * (edge * weight[:, None])[:, :, None] * rise[:, None, :]
    gather = (np.ones(len(start)), (start, np.arange(len(start))))
    right = coo_array(gather, (count, len(start))).tocsr() @ pull.reshape((len(start), -1))
    return spsolve(matrix.tocsc(), right.reshape((2 * count, -1))).reshape((count, 2, -1))


def _inner_shares(points: Any, tri: Any, simplex: Any, corners: Any) -> list[Any]:
    """For each edge, where the line between the centres of the triangles beside it crosses it, from -1 to 0."""
    places = picked(points, corners)
    found = []
    for k in range(3):
        beside = tri.neighbors[simplex, k]
        centre = picked(points, tri.simplices[np.maximum(beside, 0)]).mean(axis=1)
        c = barycentric(places, centre)
        one, other = c[:, (k + 2) % 3], c[:, (k + 1) % 3]
        share = (2.0 * one + other - 1.0) / where_op(beside < 0, 1.0, 2.0 - 3.0 * one - 3.0 * other)
        found.append(where_op(beside < 0, -0.5, share)[:, None])
    return found


def clough_tocher(points: Any, tri: Any, values: Any, slopes: Any, flat: Any, numbers: Any) -> tuple[Any, Any]:
    """The cubics of Clough and Tocher at points: values of shape (n, columns), and which points are outside.

    A triangle is split into three at its centre; the control points c[i, j, k, l] of the Bernstein polynomial of degree
    3 in the barycentric coordinates of both are set by the values and slopes at the corners, and by the condition that
    the derivative across an edge, along the line between the centres of both triangles, is the same on both sides.
    """
    simplex = tri.find_simplex(numbers)
    which = np.maximum(simplex, 0)
    corners = tri.simplices[which]
    places, f, df = picked(points, corners), picked(values, corners), picked(slopes, corners)
    g = _inner_shares(points, tri, which, corners)
    control: dict[tuple[int, ...], Any] = {}

    def index(*corners: int) -> tuple[int, ...]:
        """The powers of the four coordinates, of which the last is that of the centre: (0, 0, 1) is (2, 1, 0, 0)."""
        return tuple([corners.count(corner) for corner in range(4)])

    for i in range(3):
        control[index(i, i, i)] = f[:, i]
        for j in ((i + 1) % 3, (i + 2) % 3):
            slope = ((places[:, j] - places[:, i])[:, :, None] * df[:, i]).sum(axis=1)
            control[index(i, i, j)] = f[:, i] + slope / 3.0
    for i in range(3):
        around = [control[index(i, i, j)] for j in range(3)]
        control[index(i, i, 3)] = (around[0] + around[1] + around[2]) / 3.0
    for k in range(3):  # the edge opposite to corner k, from i to j
        i, j = (k + 1) % 3, (k + 2) % 3
        ends = [control[key] for key in (index(i, i, i), index(i, i, j), index(i, j, j), index(j, j, j))]
        bend = -ends[0] + 3.0 * ends[1] - 3.0 * ends[2] + ends[3]
        rest = -ends[0] + 2.0 * ends[1] - ends[2] + control[index(i, i, 3)] + control[index(j, j, 3)]
        control[index(i, j, 3)] = (g[k] * bend + rest) / 2.0
    for i in range(3):
        around = [control[index(i, j, 3)] for j in range(3)]
        control[index(i, 3, 3)] = (around[0] + around[1] + around[2]) / 3.0
    control[index(3, 3, 3)] = (control[index(0, 3, 3)] + control[index(1, 3, 3)] + control[index(2, 3, 3)]) / 3.0
    b = barycentric(places, flat)
    least = np.argmin(off_tape(b), axis=1)  # which of the three parts a point is in
    low = np.take_along_axis(b, least[:, None], axis=1)
    parts = [b[:, i : i + 1] - low for i in range(3)] + [3.0 * low]
    total: Any = 0.0
    for key, value in control.items():
        term = value * (6.0 / np.prod([[1.0, 1.0, 2.0, 6.0][power] for power in key]))
        for part, power in zip(parts, key, strict=True):
            for _ in range(power):
                term = term * part
        total = total + term
    return total, simplex < 0


class CloughTocher2DInterpolator:
    """The smooth cubic interpolation of values at scattered points of the plane.

    It is differentiated by the values, by the points that these are at, and by where it is evaluated. With tensors, the
    slopes at the points are the solution of a linear system, to which SciPy's iteration comes as near as `tol` says.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import CloughTocher2DInterpolator
    >>> x, y = np.random.default_rng(0).uniform(size=(2, 30))
    >>> plane = CloughTocher2DInterpolator(np.stack([x, y], axis=1), 2.0 * x - 3.0 * y)
    >>> gt.grad(lambda at: plane(at)[0])(np.array([[0.5, 0.5]])).round(4)
    array([[ 2., -3.]])
    """

    def __init__(
        self,
        points: Any,
        values: Any,
        fill_value: Any = np.nan,
        tol: float = 1e-6,
        maxiter: int = 400,
        rescale: bool = False,
    ) -> None:
        self.plain: Any = None
        self.fill_value, self.is_rescaled = fill_value, rescale
        if not holds_tensor((points, values, fill_value)):
            self.plain = theirs.CloughTocher2DInterpolator(points, values, fill_value, tol, maxiter, rescale)
        is_made = hasattr(points, "simplices")
        self.points: Any = points.points if is_made else value_of(points)
        self.values = value_of(values)
        if len(self.points.shape) != 2 or self.points.shape[1] != 2 or self.values.shape[0] != self.points.shape[0]:
            raise argument_error(
                ShapeError,
                f"scipy.interpolate.CloughTocher2DInterpolator: points of shape {self.points.shape} and values of "
                f"shape {self.values.shape}.",
                "points of shape (n, 2), and n values",
            )
        self.offset, self.scale = np.zeros(2), np.ones(2)
        if rescale and not is_made:
            known = known_numbers(self.points, "the points")
            if holds_tensor((self.points,)):
                raise argument_error(
                    UnsupportedError,
                    "scipy.interpolate.CloughTocher2DInterpolator: rescale=True with points that are tensors.",
                    "rescale=False",
                )
            spread = np.ptp(known, axis=0)
            self.offset, self.scale = known.mean(axis=0), np.where(spread > 0, spread, 1.0)
            self.points = (self.points - self.offset) / self.scale
        self.tri = points if is_made else Delaunay(known_numbers(self.points, "the points"))
        self._slopes: Any = None

    @property
    def _columns(self) -> Any:
        return self.values.reshape((self.values.shape[0], -1))

    @property
    def slopes(self) -> Any:
        """The gradients at the points, which are found when they are first needed."""
        if self._slopes is None or holds_tensor((self.points, self.values)):
            self._slopes = estimated_gradients(self.points, self.tri, self._columns)
        return self._slopes

    @property
    def grad(self) -> Any:
        """The gradients at the points, of shape (points, ..., 2)."""
        if self.plain is not None:
            return self.plain.grad
        return np.swapaxes(self.slopes, 1, 2).reshape((*self.values.shape, 2))

    def __call__(self, *args: Any) -> Any:
        """The values at points: coordinates along the last axis, or one argument for each coordinate."""
        if self.plain is not None and not holds_tensor(args):
            return self.plain(*args)
        at = _points(tuple(args) if len(args) > 1 else args[0], 2)
        flat = (at.reshape((-1, 2)) - self.offset) / self.scale
        numbers = known_numbers(flat, "the points")
        found, outside = clough_tocher(self.points, self.tri, self._columns, self.slopes, flat, numbers)
        found = where_op(outside[:, None], self.fill_value, found)
        return found.reshape((*at.shape[:-1], *self.values.shape[1:]))
