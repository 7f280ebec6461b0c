"""gradtape.scipy.interpolate: SciPy's values, and gradients by points, values and the points that these are at."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import interpolate as theirs
from scipy.spatial import Delaunay

import gradtape as gt
from gradtape.jit import JitWarning
from gradtape.scipy import interpolate as ours

RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(0.0, 5.0, 7))
Y = RNG.normal(size=(7, 2))
INSIDE = np.array([0.6 * X[0] + 0.4 * X[1], 0.3 * X[1] + 0.7 * X[2], 0.5 * X[-1] + 0.5 * X[-2]])
QUERY = np.array([[0.2, 1.1], [3.0, 6.0]])

Make = Callable[[Any, Any, Any], Any]
SPLINES: dict[str, Make] = {
    "CubicSpline": lambda m, x, y: m.CubicSpline(x, y),
    "CubicSpline natural": lambda m, x, y: m.CubicSpline(x, y, bc_type="natural"),
    "CubicSpline with slopes": lambda m, x, y: m.CubicSpline(
        x, y, bc_type=((1, np.array([0.5, 0.1])), (2, np.array([0.3, 0.2])))
    ),
    "CubicSpline of mixed ends": lambda m, x, y: m.CubicSpline(x, y, bc_type=("not-a-knot", "clamped")),
    "CubicSpline of two": lambda m, x, y: m.CubicSpline(x[:2], y[:2]),
    "CubicSpline of three": lambda m, x, y: m.CubicSpline(x[:3], y[:3]),
    "CubicSpline periodic": lambda m, x, y: m.CubicSpline(x, np.concatenate([y[:-1], y[:1]]), bc_type="periodic"),
    "CubicSpline along an axis": lambda m, x, y: m.CubicSpline(x, y.T, axis=1),
    "PchipInterpolator": lambda m, x, y: m.PchipInterpolator(x, y),
    "Akima1DInterpolator": lambda m, x, y: m.Akima1DInterpolator(x, y),
    "makima": lambda m, x, y: m.Akima1DInterpolator(x, y, method="makima", extrapolate=True),
    "CubicHermiteSpline": lambda m, x, y: m.CubicHermiteSpline(x, y, 0.5 * y),
    "make_interp_spline linear": lambda m, x, y: m.make_interp_spline(x, y, k=1),
    "make_interp_spline quadratic": lambda m, x, y: m.make_interp_spline(x, y, k=2),
    "make_interp_spline": lambda m, x, y: m.make_interp_spline(x, y),
    "make_interp_spline natural": lambda m, x, y: m.make_interp_spline(x, y, bc_type="natural"),
    "make_interp_spline with slopes": lambda m, x, y: m.make_interp_spline(
        x, y, bc_type=([(1, np.ones(2))], [(2, np.zeros(2))])
    ),
    "make_lsq_spline": lambda m, x, y: m.make_lsq_spline(x, y, np.r_[[0.0] * 3, 2.5, [5.0] * 3], k=2),
}
SUPPORTED = {name for names in ours.REASONS.values() for name in names.split()}


def test_every_name_of_scipy_is_there() -> None:
    """Each public name is differentiated, or refused with a reason."""
    names = [name for name in dir(theirs) if not name.startswith("_")]
    assert set(names) <= set(dir(ours))
    for name in names:
        known = name in ours.original.functions or name in SUPPORTED or name == "test"
        assert known or isinstance(getattr(ours, name), ModuleType), name
    with pytest.raises(gt.UnsupportedError, match="knots that FITPACK chooses"):
        ours.bisplrep(X, X, gt.tensor(Y[:, 0], requires_grad=True))


@pytest.mark.parametrize("name", SPLINES)
def test_splines(name: str) -> None:
    """Values, derivatives and integrals are SciPy's, for tensors in any place; gradients in both modes."""
    make = SPLINES[name]
    plain, mixed, moving = make(theirs, X, Y), make(ours, X, Y), make(ours, gt.tensor(X), gt.tensor(Y))
    for order in range(min(getattr(plain, "k", 2), 2) + 1):
        expected = plain(QUERY, order)
        np.testing.assert_allclose(moving(QUERY, order).numpy(), expected, atol=1e-9)
        np.testing.assert_allclose(mixed(gt.tensor(QUERY), order).numpy(), expected, atol=1e-9)
        assert np.array_equal(mixed(QUERY, order), expected, equal_nan=True)
    if "periodic" not in name:
        for each in (moving, mixed):
            value = each.integrate(gt.tensor(0.5), 4.0).numpy()
            np.testing.assert_allclose(value, plain.integrate(0.5, 4.0), atol=1e-9)
        np.testing.assert_allclose(moving.antiderivative()(QUERY).numpy(), plain.antiderivative()(QUERY), atol=1e-9)
        np.testing.assert_allclose(moving.derivative()(QUERY).numpy(), plain.derivative()(QUERY), atol=1e-9)
    gt.gradcheck(lambda x, y, at: make(ours, x, y)(at), X, Y, INSIDE)


def test_splines_of_second_order_in_batches_and_compiled() -> None:
    """Second derivatives, batches of values and of points, and the uncompiled run inside of jit."""
    gt.gradcheck(lambda y, at: ours.CubicSpline(X, y)(at), Y[:, 0], INSIDE, order=2)
    np.testing.assert_allclose(gt.vmap(lambda y: ours.CubicSpline(X, y)(2.0))(Y.T), theirs.CubicSpline(X, Y)(2.0))
    slopes = gt.vmap(gt.grad(lambda at: ours.make_interp_spline(X, Y[:, 0])(at)))(INSIDE)
    np.testing.assert_allclose(slopes, theirs.make_interp_spline(X, Y[:, 0])(INSIDE, 1))
    with pytest.warns(JitWarning, match="not compiled"):
        found = gt.jit(gt.grad(lambda at: ours.CubicSpline(X, Y[:, 0])(at).sum()))(INSIDE)
    np.testing.assert_allclose(found, theirs.CubicSpline(X, Y[:, 0])(INSIDE, 1))


def test_roots_and_coefficients() -> None:
    """Roots move with the values; splines can be made of coefficients; FITPACK's form can be evaluated."""
    gt.gradcheck(lambda y: ours.CubicSpline(X, y).roots(extrapolate=False), Y[:, 0])
    gt.gradcheck(lambda y, level: ours.PchipInterpolator(X, y).solve(level, extrapolate=False), X**2, 4.0)
    plain = theirs.CubicSpline(X, Y)
    gt.gradcheck(lambda c, x, at: ours.PPoly(c, x)(at), plain.c, X, INSIDE)
    t, c, k = theirs.splrep(X, Y[:, 0])
    at = QUERY.reshape(-1)
    for outside in (0, 1, 3):
        for order in (0, 1):
            found = ours.splev(gt.tensor(at), (t, c, k), order, outside).numpy()
            np.testing.assert_allclose(found, theirs.splev(at, (t, c, k), order, outside))
    gt.gradcheck(lambda at, c: ours.splev(at, (t, c, k)), INSIDE, c)
    gt.gradcheck(lambda a, b, c: ours.splint(a, b, (t, c, k)), 1.1, 2.2, c)
    with pytest.raises(gt.OperandError, match="not in order"):
        ours.CubicSpline(gt.tensor(X[::-1].copy()), Y)


@pytest.mark.parametrize(
    "kind", ["linear", "nearest", "nearest-up", "zero", "quadratic", "cubic", "previous", "next", 4]
)
def test_interp1d(kind: Any) -> None:
    """Every kind, with points in any order, and tensors in any place."""
    x, y = np.array([3.0, 0.0, 1.0, 2.0, 5.5, 4.5]), RNG.normal(size=(2, 6))
    at = np.array([[0.2, 1.3], [3.2, 4.1]])
    expected = theirs.interp1d(x, y, kind)(at)
    np.testing.assert_allclose(ours.interp1d(gt.tensor(x), gt.tensor(y), kind)(at).numpy(), expected, atol=1e-12)
    np.testing.assert_allclose(ours.interp1d(x, y, kind)(gt.tensor(at)).numpy(), expected, atol=1e-12)
    assert np.array_equal(ours.interp1d(x, y, kind)(at), expected)
    gt.gradcheck(lambda x, y, at: ours.interp1d(x, y, kind)(at), x, y, at)


def test_interp1d_outside() -> None:
    """Values for what is outside, extrapolation, and the error."""
    at, y = np.array([-1.0, 2.2, 9.0]), Y[:, 0]
    for fill in (9.0, (1.0, 2.0), "extrapolate"):
        expected = theirs.interp1d(X, y, bounds_error=False, fill_value=fill)(at)
        found = ours.interp1d(X, gt.tensor(y), bounds_error=False, fill_value=fill)(at)
        np.testing.assert_allclose(found.numpy(), expected)
    gt.gradcheck(lambda fill: ours.interp1d(X, y, bounds_error=False, fill_value=fill)(at), 3.0)
    for points in (at, gt.tensor(at)):
        with pytest.raises(ValueError, match="outside"):
            ours.interp1d(X, gt.tensor(y))(points)


@pytest.mark.parametrize("method", ["linear", "nearest", "slinear", "cubic", "quintic"])
def test_regular_grids(method: str) -> None:
    """Values are SciPy's; gradients by the coordinates of the grid, the values and the points."""
    grid = np.array([0.0, 1.0, 2.5, 3.0, 4.0, 5.0]), np.array([4.0, 3.0, 1.5, 1.0, 0.5, 0.0])
    values, at = RNG.normal(size=(6, 6, 2)), np.array([[0.6, 0.7], [2.7, 3.3], [4.1, 1.2]])
    expected = theirs.RegularGridInterpolator(grid, values, method)(at)
    tolerance = {"rtol": 1e-4, "atol": 1e-4} if method in ("cubic", "quintic") else {"rtol": 1e-9}
    table = ours.RegularGridInterpolator(grid, gt.tensor(values), method)
    np.testing.assert_allclose(table(at).numpy(), expected, **tolerance)
    coordinates = (gt.tensor(at[:, 0]), at[:, 1])
    np.testing.assert_allclose(ours.interpn(grid, values, coordinates, method).numpy(), expected, **tolerance)
    assert np.array_equal(ours.RegularGridInterpolator(grid, values, method)(at), expected)
    gt.gradcheck(
        lambda a, b, values, at: ours.RegularGridInterpolator((a, b), values, method)(at), *grid, values[..., 0], at
    )
    filled = ours.RegularGridInterpolator(grid, gt.tensor(values), method, bounds_error=False, fill_value=7.0)
    np.testing.assert_array_equal(filled([9.0, 9.0]).numpy(), [[7.0, 7.0]])
    with pytest.raises(ValueError, match="outside"):
        table(gt.tensor([9.0, 9.0]))


@pytest.mark.parametrize("kernel", ["linear", "thin_plate_spline", "cubic", "quintic", "multiquadric", "gaussian"])
def test_radial_basis_functions(kernel: str) -> None:
    """Values are SciPy's; gradients by everything."""
    places, values, at = RNG.normal(size=(7, 2)), RNG.normal(size=7), RNG.normal(size=(3, 2))
    made = lambda m, places, values, scale, smoothing: m.RBFInterpolator(
        places, values, kernel=kernel, epsilon=scale, smoothing=smoothing
    )
    expected = made(theirs, places, values, 1.3, 0.1)(at)
    np.testing.assert_allclose(made(ours, places, gt.tensor(values), 1.3, 0.1)(at).numpy(), expected, rtol=1e-7)
    np.testing.assert_allclose(made(ours, places, values, 1.3, 0.1)(gt.tensor(at)).numpy(), expected, rtol=1e-7)
    gt.gradcheck(lambda at, *rest: made(ours, *rest)(at), at, places, values, 1.3, 0.1, rtol=1e-4)


def test_scattered_points() -> None:
    """Triangles and nearest points: SciPy's values; gradients by points, values and places."""
    places, values = RNG.normal(size=(9, 2)), RNG.normal(size=9)
    at = places[:4].mean(axis=0) + 0.05 * RNG.normal(size=(3, 2))
    expected = theirs.LinearNDInterpolator(places, values)(at)
    np.testing.assert_allclose(ours.LinearNDInterpolator(places, values)(gt.tensor(at)).numpy(), expected)
    triangles = Delaunay(places)  # once: SciPy's search for a triangle has a slow beginning
    gt.gradcheck(lambda values, at: ours.LinearNDInterpolator(triangles, values)(at), values, at)
    turned = places @ np.array([[0.3, -1.0], [0.7, 0.2]])
    gt.gradcheck(lambda t: ours.LinearNDInterpolator(places + t * turned, values)(at), 0.01)
    far = np.array([[50.0, 50.0]])
    assert np.isnan(ours.griddata(places, gt.tensor(values), far).numpy()).all()
    nearest = ours.griddata(places, gt.tensor(values), at, method="nearest").numpy()
    np.testing.assert_array_equal(nearest, theirs.griddata(places, values, at, method="nearest"))
    gt.gradcheck(lambda values: ours.griddata(places, values, (at[:, 0], at[:, 1]), method="nearest"), values)
    with pytest.raises(gt.OperandError, match="method='cubic' in 3 dimensions"):
        ours.griddata(RNG.normal(size=(9, 3)), gt.tensor(values), RNG.normal(size=(2, 3)), method="cubic")
