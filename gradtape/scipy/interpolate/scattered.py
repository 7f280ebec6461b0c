"""Interpolation of values at scattered points: radial basis functions, linear on triangles, the nearest value."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import interpolate as theirs

from gradtape.errors import OperandError, UnsupportedError
from gradtape.extend import argument_error, off_tape
from gradtape.mirror import holds_tensor
from gradtape.ops import concatenate, exp, log, sqrt, stack
from gradtape.ops import where as where_op
from gradtape.scipy.interpolate.gridded import _points, interp1d
from gradtape.scipy.interpolate.piecewise import known_numbers, original, picked, value_of
from gradtape.scipy.interpolate.triangles import CloughTocher2DInterpolator, barycentric

KERNELS: dict[str, Callable[[Any, Any], Any]] = {  # of a distance and its square
    "linear": lambda r, q: -r,
    "thin_plate_spline": lambda r, q: 0.5 * q * log(where_op(q == 0.0, 1.0, q)),
    "cubic": lambda r, q: q * r,
    "quintic": lambda r, q: -q * q * r,
    "multiquadric": lambda r, q: -sqrt(q + 1.0),
    "inverse_multiquadric": lambda r, q: 1.0 / sqrt(q + 1.0),
    "inverse_quadratic": lambda r, q: 1.0 / (q + 1.0),
    "gaussian": lambda r, q: exp(-q),
}
LEAST_DEGREE = {"multiquadric": 0, "linear": 0, "thin_plate_spline": 1, "cubic": 1, "quintic": 2}


class RBFInterpolator(theirs.RBFInterpolator):  # type: ignore[misc]  # SciPy has no types
    """Radial basis functions and a polynomial through values at scattered points, or near to them with `smoothing`.

    It is differentiated by all points, by the values, by `smoothing` and by `epsilon`.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import RBFInterpolator
    >>> places = np.array([[0.0], [1.0], [3.0]])
    >>> gt.grad(lambda d: RBFInterpolator(places, d)([[1.0]])[0])(np.array([1.0, 2.0, 0.0])).round(6) + 0.0
    array([0., 1., 0.])
    """

    def __init__(
        self,
        y: Any,
        d: Any,
        neighbors: Any = None,
        smoothing: Any = 0.0,
        kernel: str = "thin_plate_spline",
        epsilon: Any = None,
        degree: Any = None,
    ) -> None:
        self.moving: tuple[Any, ...] | None = None
        self.arguments = (y, d, neighbors, smoothing, kernel, epsilon, degree)
        if not holds_tensor((y, d, smoothing, epsilon)):
            super().__init__(*self.arguments)
            return
        self.moving = self._solved()

    def _solved(self) -> tuple[Any, ...]:
        """The places, the weights of all functions, the powers of the polynomial, and the scale."""
        y, d, neighbors, smoothing, kernel, epsilon, degree = self.arguments
        if neighbors is not None:
            raise argument_error(
                UnsupportedError,
                f"scipy.interpolate.RBFInterpolator: neighbors={neighbors} chooses other points for each point.",
                "neighbors=None",
            )
        if kernel not in KERNELS:
            raise argument_error(
                OperandError, f"scipy.interpolate.RBFInterpolator: kernel={kernel!r}.", f"one of {', '.join(KERNELS)}"
            )
        places, values = value_of(y), value_of(d)
        least = LEAST_DEGREE.get(kernel, -1)
        if epsilon is None:
            if kernel not in ("linear", "thin_plate_spline", "cubic", "quintic"):
                raise argument_error(
                    OperandError,
                    f"scipy.interpolate.RBFInterpolator: the kernel {kernel} needs a scale.",
                    "epsilon=1.0, or another scale of distances",
                )
            epsilon = 1.0
        degree = max(least, 0) if degree is None else int(degree)
        count, axes = places.shape
        powers = [
            tuple(sum(1 for each in choice if each == axis) for axis in range(axes))
            for total in range(degree + 1)
            for choice in itertools.combinations_with_replacement(range(axes), total)
        ]
        scale = value_of(epsilon)
        matrix = _kernel_matrix(places, places, kernel, scale)
        matrix = matrix + np.eye(count) * (value_of(smoothing) + np.zeros(count))
        flat = values.reshape((count, -1))
        if powers:
            polynomial = _monomials(places, powers)
            corner = np.zeros((len(powers), len(powers)))
            rows = [
                concatenate([matrix, polynomial], axis=1),
                concatenate([polynomial.T, corner], axis=1),
            ]
            matrix = concatenate(rows, axis=0)
            flat = concatenate([flat, np.zeros((len(powers), flat.shape[1]), flat.dtype)], axis=0)
        return places, np.linalg.solve(matrix, flat), powers, kernel, scale, values.shape[1:]

    def __call__(self, x: Any) -> Any:
        """The values at the points x, of shape (points, coordinates)."""
        if self.moving is None and not holds_tensor((x,)):
            return super().__call__(x)
        places, weights, powers, kernel, scale, shape = self._solved() if self.moving is None else self.moving
        at = value_of(x)
        basis = _kernel_matrix(at, places, kernel, scale)
        if powers:
            basis = concatenate([basis, _monomials(at, powers)], axis=1)
        return (basis @ weights).reshape((at.shape[0], *shape))


def _kernel_matrix(x: Any, places: Any, kernel: str, scale: Any) -> Any:
    apart = (x[:, None, :] - places[None, :, :]) * scale
    squares = (apart * apart).sum(axis=-1)
    distance = where_op(squares == 0.0, 0.0, sqrt(where_op(squares == 0.0, 1.0, squares)))
    return KERNELS[kernel](distance, squares)


def _monomials(x: Any, powers: list[Any]) -> Any:
    columns = []
    for exponents in powers:
        term: Any = 1.0 + 0.0 * x[:, 0]
        for axis, exponent in enumerate(exponents):
            for _ in range(exponent):
                term = term * x[:, axis]
        columns.append(term)
    return stack(columns, axis=1)


class LinearNDInterpolator:
    """Linear interpolation on the triangles between scattered points; these count as given.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import LinearNDInterpolator
    >>> corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> gt.grad(lambda v: LinearNDInterpolator(corners, v)(0.25, 0.25))(np.zeros(3))
    array([0.5 , 0.25, 0.25])
    """

    def __init__(self, points: Any, values: Any, fill_value: Any = np.nan, rescale: bool = False) -> None:
        self.is_plain = not holds_tensor((points, values, fill_value))
        self.fill_value = fill_value
        if hasattr(points, "simplices"):
            self.points: Any = points.points
            self.tri = points
        else:
            self.points = value_of(points)
            if rescale and not self.is_plain:
                raise argument_error(
                    UnsupportedError,
                    "scipy.interpolate.LinearNDInterpolator: rescale=True with tensors is not differentiated.",
                    "points of similar size along each axis, and rescale=False",
                )
            self.tri = None
        self.values = value_of(values)
        known = known_numbers(self.points, "the points")
        zeros = np.zeros(self.values.shape)
        given = points if self.tri is not None else known
        self.theirs = theirs.LinearNDInterpolator(
            given, values if self.is_plain else zeros, fill_value if self.is_plain else np.nan, rescale
        )
        self.tri = self.theirs.tri
        self.is_rescaled = rescale

    def __call__(self, *args: Any) -> Any:
        """The values at points: coordinates along the last axis, or one argument for each coordinate."""
        if self.is_plain and not holds_tensor(args):
            return self.theirs(*args)
        axes = self.points.shape[1]
        at = _points(tuple(args) if len(args) > 1 else args[0], axes)
        flat = at.reshape((-1, axes))
        numbers = known_numbers(flat, "the points")
        if self.is_rescaled:
            numbers = (numbers - self.theirs.offset) / self.theirs.scale
        simplex = self.tri.find_simplex(numbers)
        corners = self.tri.simplices[np.maximum(simplex, 0)]
        places = picked(self.points, corners)
        weights = barycentric(places, flat)
        rest = (1,) * (len(self.values.shape) - 1)
        found = (weights.reshape((*weights.shape, *rest)) * picked(self.values, corners)).sum(axis=1)
        found = where_op((simplex < 0).reshape((-1, *rest)), self.fill_value, found)
        return found.reshape((*at.shape[:-1], *found.shape[1:]))


class NearestNDInterpolator:
    """The value of the nearest of scattered points: differentiated by the values.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import NearestNDInterpolator
    >>> gt.grad(lambda v: NearestNDInterpolator([[0.0, 0.0], [1.0, 1.0]], v)(0.8, 0.7))(np.array([1.0, 2.0]))
    array([0., 1.])
    """

    def __init__(self, x: Any, y: Any, rescale: bool = False, tree_options: Any = None) -> None:
        self.values = value_of(y)
        known = known_numbers(value_of(x), "the points")
        numbers = np.arange(len(known), dtype=float)
        self.is_plain = not holds_tensor((x, y))
        self.plain = theirs.NearestNDInterpolator(known, y, rescale, tree_options) if self.is_plain else None
        self.which = theirs.NearestNDInterpolator(known, numbers, rescale, tree_options)

    def __call__(self, *args: Any, **query_options: Any) -> Any:
        """The values at points: coordinates along the last axis, or one argument for each coordinate."""
        if self.plain is not None and not holds_tensor(args):
            return self.plain(*args, **query_options)
        numbers = [known_numbers(value_of(x), "the points") for x in args]
        which = self.which(*numbers, **query_options)
        found = picked(self.values, np.nan_to_num(which).astype(int))
        return found if not np.isnan(which).any() else where_op(np.isnan(which), np.nan, found)


@original.differentiated
def griddata(
    points: Any, values: Any, xi: Any, method: str = "linear", fill_value: Any = np.nan, rescale: bool = False
) -> Any:
    """Interpolation of values at scattered points, at the points xi: `linear`, `nearest` or, in the plane, `cubic`.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import griddata
    >>> corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> gt.grad(lambda v: griddata(corners, v, (0.25, 0.25)))(np.zeros(3))
    array([0.5 , 0.25, 0.25])
    """
    places = stack([value_of(part) for part in points], axis=-1) if isinstance(points, tuple) else value_of(points)
    if len(places.shape) < 2 or places.shape[-1] == 1:
        at = xi[0] if isinstance(xi, tuple) else xi
        if method == "nearest":
            fill_value = "extrapolate"
        return interp1d(places.reshape((-1,)), values, method, 0, bounds_error=False, fill_value=fill_value)(at)
    if method == "linear":
        return LinearNDInterpolator(places, values, fill_value, rescale)(*(xi if isinstance(xi, tuple) else (xi,)))
    if method == "nearest":
        return NearestNDInterpolator(places, values, rescale)(*(xi if isinstance(xi, tuple) else (xi,)))
    if method == "cubic" and places.shape[-1] == 2:
        smooth = CloughTocher2DInterpolator(places, values, fill_value, rescale=rescale)
        return smooth(*(xi if isinstance(xi, tuple) else (xi,)))
    raise argument_error(
        OperandError,
        f"scipy.interpolate.griddata: method={method!r} in {places.shape[-1]} dimensions.",
        "method='linear', 'nearest' or, in 1 or 2 dimensions, 'cubic'",
    )


SCALED: dict[str, Callable[[Any, Any], Any]] = {  # of a distance, and of its square in units of epsilon
    "multiquadric": lambda r, q: sqrt(q + 1.0),
    "inverse": lambda r, q: 1.0 / sqrt(q + 1.0),
    "inverse multiquadric": lambda r, q: 1.0 / sqrt(q + 1.0),
    "gaussian": lambda r, q: exp(-q),
    "linear": lambda r, q: r,
    "cubic": lambda r, q: r * r * r,
    "quintic": lambda r, q: r * r * r * r * r,
    "thin_plate": lambda r, q: r * r * log(where_op(r == 0.0, 1.0, r)),
    "thin-plate": lambda r, q: r * r * log(where_op(r == 0.0, 1.0, r)),
}
"""The functions of `Rbf` by their names."""


class Rbf(theirs.Rbf):  # type: ignore[misc]  # SciPy has no types
    """Radial basis functions through values at scattered points, given as coordinates and values: Rbf(x, y, ..., d).

    It is differentiated by all coordinates, the values, `epsilon` and `smooth`.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.interpolate import Rbf
    >>> gt.grad(lambda d: Rbf([0.0, 1.0, 3.0], d)(1.0))(np.array([1.0, 2.0, 0.0])).round(6) + 0.0
    array([0., 1., 0.])
    """

    moving: tuple[Any, Any, Any, str] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not holds_tensor(args) and not holds_tensor(kwargs.values()):
            theirs.Rbf.__init__(self, *args, **kwargs)
            self.given = (args, kwargs)
            return
        self.moving = self._solved(*args, **kwargs)

    def _solved(
        self,
        *args: Any,
        function: Any = "multiquadric",
        epsilon: Any = None,
        smooth: Any = 0.0,
        norm: Any = "euclidean",
        mode: str = "1-D",
    ) -> tuple[Any, Any, Any, str]:
        """The places, the weights of all functions, the scale and the name of the function."""
        name = function.lower() if isinstance(function, str) else function
        if name not in SCALED or norm != "euclidean":
            raise argument_error(
                UnsupportedError,
                f"scipy.interpolate.Rbf: function={function!r} and norm={norm!r} with tensors.",
                f"norm='euclidean', and one of {', '.join(SCALED)}",
            )
        places = stack([value_of(part).reshape((-1,)) for part in args[:-1]], axis=-1)
        values = value_of(args[-1])
        values = values if mode == "N-D" else values.reshape((-1,))
        count = places.shape[0]
        if epsilon is None:
            edges = [np.max(places[:, axis]) - np.min(places[:, axis]) for axis in range(places.shape[1])]
            edges = [edge for edge in edges if bool(off_tape(edge) != 0.0)]
            product: Any = 1.0
            for edge in edges:
                product = product * edge
            epsilon = (product / count) ** (1.0 / len(edges))
        scale = value_of(epsilon)
        matrix = _scaled_functions(places, places, scale, name) - np.eye(count) * value_of(smooth)
        weights = np.linalg.solve(matrix, values.reshape((count, -1))).reshape(values.shape)
        return places, weights, scale, name

    def __call__(self, *args: Any) -> Any:
        """The values at points, given as coordinates of the same shape."""
        if self.moving is None and not holds_tensor(args):
            return super().__call__(*args)
        if self.moving is None:
            given, named = self.given
            places, weights, scale, name = self._solved(*given, **named)
        else:
            places, weights, scale, name = self.moving
        parts = [value_of(part) for part in args]
        at = stack([part.reshape((-1,)) for part in parts], axis=-1)
        found = _scaled_functions(at, places, scale, name) @ weights
        return found.reshape((*parts[0].shape, *weights.shape[1:]))


def _scaled_functions(x: Any, places: Any, scale: Any, name: str) -> Any:
    apart = x[:, None, :] - places[None, :, :]
    squares = (apart * apart).sum(axis=-1)
    distance = where_op(squares == 0.0, 0.0, sqrt(where_op(squares == 0.0, 1.0, squares)))
    return SCALED[name](distance, squares / scale**2)
