"""gradtape.scipy.interpolate: FITPACK's splines, polynomials through points, triangles and Bernstein's basis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mirror_checks import leaves
from scipy import interpolate as theirs
from scipy.spatial import Delaunay

import gradtape as gt
from gradtape.jit import JitWarning
from gradtape.scipy import interpolate as ours

RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(0.0, 5.0, 9))
Y = RNG.normal(size=9)
W = RNG.uniform(0.5, 1.5, 9)
QUERY = np.array([0.2, 1.1, 3.3, 6.0])
INSIDE = np.array([0.9, 1.1, 3.3])
LOOSE = {"rtol": 1e-4, "atol": 1e-4}


def same(found: Any, expected: Any) -> None:
    """All arrays in nested lists and tuples are equal, with the same shapes and dtypes."""
    one, other = leaves(found), leaves(expected)
    assert len(one) == len(other)
    for ours_, theirs_ in zip(one, other, strict=True):
        a, b = np.asarray(ours_.numpy() if isinstance(ours_, gt.Tensor) else ours_), np.asarray(theirs_)
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)


FORMS: dict[str, Callable[..., Any]] = {
    **{f"splrep of degree {k}": lambda m, x, y, w, k=k: m.splrep(x, y, k=k)[:2] for k in (1, 2, 5)},
    "splrep in an interval": lambda m, x, y, w: m.splrep(x, y, xb=x[0] - 1.0, xe=x[-1] + 0.5, s=0)[:2],
    "splrep with knots": lambda m, x, y, w: m.splrep(x, y, w, xb=x[0] - 1.0, t=np.array([1.5, 2.5]))[:2],
    "splrep of a polynomial": lambda m, x, y, w: m.splrep(x, y, w, s=1e3, full_output=1)[0][:2],
    "splprep": lambda m, x, y, w: m.splprep([x, y], s=0, k=2)[0][1],
    "make_splrep": lambda m, x, y, w: m.make_splrep(x, y)(INSIDE),
    "make_splprep": lambda m, x, y, w: m.make_splprep([x, y])[0](INSIDE / 5.0),
    "make_smoothing_spline": lambda m, x, y, w: m.make_smoothing_spline(x, y, w, 0.3)(INSIDE),
    "splder": lambda m, x, y, w: m.splder(m.splrep(x, y), 2)[:2],
    "splantider": lambda m, x, y, w: m.splantider(m.splrep(x, y), 2)[:2],
    "spalde": lambda m, x, y, w: list(m.spalde(INSIDE, m.splrep(x, y))),
    "sproot": lambda m, x, y, w: m.sproot(m.splrep(x, y)),
}


@pytest.mark.parametrize("name", FORMS)
def test_functions_of_fitpack(name: str) -> None:
    """The forms that are linear in the values are SciPy's; gradients by points, values and weights."""
    same(FORMS[name](ours, gt.tensor(X), gt.tensor(Y), gt.tensor(W)), FORMS[name](theirs, X, Y, W))
    gt.gradcheck(lambda x, y, w: leaves(FORMS[name](ours, x, y, w)), X, Y, W, **LOOSE)


SPLINES: dict[str, Callable[..., Any]] = {
    "UnivariateSpline": lambda m, x, y, w: m.UnivariateSpline(x, y, w, s=0, ext=3),
    "polynomial": lambda m, x, y, w: m.UnivariateSpline(x, y, w, k=2, s=1e3, ext=1),
    "InterpolatedUnivariateSpline": lambda m, x, y, w: m.InterpolatedUnivariateSpline(x, y, k=4, bbox=[-1, 7]),
    "LSQUnivariateSpline": lambda m, x, y, w: m.LSQUnivariateSpline(x, y, [1.5, 2.5], w),
}


@pytest.mark.parametrize("name", SPLINES)
def test_univariate_splines(name: str) -> None:
    """Every method gives SciPy's values, for tensors as data and as points; arrays give SciPy's own objects."""
    make = SPLINES[name]
    plain, mixed = make(theirs, X, Y, W), make(ours, X, Y, W)
    moving = make(ours, *map(gt.tensor, (X, Y, W)))
    assert np.array_equal(mixed(QUERY), plain(QUERY))
    assert isinstance(moving, theirs.UnivariateSpline)
    at = gt.tensor(QUERY)
    for each in (moving, mixed):
        for order in (0, 1):
            same(each(at, order), plain(QUERY, order))
        same(each.integral(gt.tensor(0.5), 4.0), plain.integral(0.5, 4.0))
        same(each.derivatives(1.5), np.asarray(plain.derivatives(1.5)))
        same(each.derivative()(at), plain.derivative()(QUERY))
        same(each.antiderivative()(at), plain.antiderivative()(QUERY))
        same([each.get_knots(), each.get_coeffs()], [plain.get_knots(), plain.get_coeffs()])
        same(each.get_residual(), plain.get_residual())
        if plain._eval_args[2] == 3:
            same(each.roots(), plain.roots())
    gt.gradcheck(lambda x, y, w, at: make(ours, x, y, w)(at), X, Y, W, INSIDE, **LOOSE)


def test_what_fitpack_iterates_for_is_refused() -> None:
    """A smoothing factor between a polynomial and a spline through all values, and what cannot be changed."""
    y = gt.tensor(10.0 * Y, requires_grad=True)
    for call in (
        lambda: ours.UnivariateSpline(X, y),
        lambda: ours.splrep(X, y, s=0.5),
        lambda: ours.splprep([X, y]),
        lambda: ours.make_splrep(X, y, s=1.0),
        lambda: ours.RectBivariateSpline(X[:4], X[:4], gt.tensor(np.eye(4)), s=1.0),
    ):
        with pytest.raises(gt.UnsupportedError, match="adds knots until"):
            call()
    with pytest.raises(gt.UnsupportedError) as caught:
        ours.splrep(X, y, s=0.5)
    assert "ours.splrep(X, y, s=0)" in str(caught.value)  # the call with the argument changed, not added
    with pytest.raises(gt.UnsupportedError, match="cross-validation"):
        ours.make_smoothing_spline(X, y)
    with pytest.raises(gt.UnsupportedError, match="periodic"):
        ours.splrep(X, y, per=1)
    with pytest.raises(gt.UnsupportedError, match="smoothing factor"):
        ours.UnivariateSpline(X, y, s=0).set_smoothing_factor(1.0)
    with pytest.raises(gt.OperandError, match="LSQUnivariateSpline"):
        ours.LSQUnivariateSpline(X, y, [7.0])
    with pytest.raises(gt.UnsupportedError, match="knots that FITPACK chooses"):  # a class, with the reason
        ours.SmoothBivariateSpline(X, X, y)
    assert isinstance(ours.NdPPoly(np.ones((1, 1, 1, 1)), ([0.0, 1.0], [0.0, 1.0])), ours.NdPPoly)


GRID = np.sort(RNG.uniform(0.0, 4.0, 7)), np.sort(RNG.uniform(0.0, 3.0, 6)), RNG.normal(size=(7, 6))


@pytest.mark.parametrize(("kx", "ky"), [(3, 3), (4, 2)])
def test_splines_of_two_variables(kx: int, ky: int) -> None:
    """Values on grids and at points, also outside, partial derivatives and integrals; gradients by everything."""
    make = lambda m, x, y, z: m.RectBivariateSpline(x, y, z, kx=kx, ky=ky)
    plain, mixed, moving = make(theirs, *GRID), make(ours, *GRID), make(ours, *map(gt.tensor, GRID))
    x, y = np.array([-0.5, 0.7, 1.2, 5.0]), np.array([0.3, 1.0, 1.1, 2.5])
    assert np.array_equal(mixed(x, y), plain(x, y))
    for each in (moving, mixed):
        same(each(gt.tensor(x), gt.tensor(y)), plain(x, y))
        same(each.ev(gt.tensor(x), y, 1, 1), plain.ev(x, y, 1, 1))
        same(each.partial_derivative(1, 0)(gt.tensor(x), y), plain.partial_derivative(1, 0)(x, y))
        same(each.integral(gt.tensor(0.5), 2.0, 0.3, 1.0), plain.integral(0.5, 2.0, 0.3, 1.0))
    same([moving.get_knots(), moving.get_coeffs()], [plain.get_knots(), plain.get_coeffs()])
    gt.gradcheck(lambda x, y, z, at: make(ours, x, y, z).ev(at, [0.3, 1.1]), *GRID, np.array([0.9, 1.3]), **LOOSE)
    tck = (*plain.tck, kx, ky)
    for at in (x[1:3], 0.7):
        same(ours.bisplev(gt.tensor(at), y, tck, 1), theirs.bisplev(at, y, tck, 1))
    same(ours.bisplev(gt.tensor(0.7), 0.3, tck), theirs.bisplev(0.7, 0.3, tck))


@pytest.mark.parametrize("name", ["BarycentricInterpolator", "KroghInterpolator"])
def test_polynomials_through_points(name: str) -> None:
    """Values and derivatives, along any axis and at the points themselves; gradients by points, values and places."""
    at = np.array([[0.3, 1.7], [X[2], 4.1]])
    for axis, values in ((0, RNG.normal(size=(6, 2))), (1, RNG.normal(size=(2, 6)))):
        make = lambda m, x, y, axis=axis: getattr(m, name)(x, y, axis)
        plain, mixed = make(theirs, X[:6], values), make(ours, X[:6], values)
        same(mixed(at), plain(at))  # SciPy puts the points of one of them in a random order
        for each in (make(ours, gt.tensor(X[:6]), gt.tensor(values)), mixed):
            same(each(gt.tensor(at)), plain(at))
            same(each.derivative(gt.tensor(at), 2), plain.derivative(at, 2))
            same(each.derivatives(gt.tensor(at), 3), plain.derivatives(at, 3))
        gt.gradcheck(lambda x, y, at, make=make: make(ours, x, y)(at), X[:6], values, at, **LOOSE)
    gt.gradcheck(lambda y, at: getattr(ours, name)(X[:4], y).derivative(at), Y[:4], at, order=2, **LOOSE)


@pytest.mark.filterwarnings("ignore:`(lagrange|pade)` is deprecated:DeprecationWarning")  # by SciPy 1.18, for arrays
def test_repeated_points_many_points_and_functions() -> None:
    """Krogh's derivatives; 41 points without a loss of digits; added points; `lagrange` and `pade` as polynomials."""
    x, y, at = np.array([0.0, 0.0, 0.0, 1.0, 2.0, 2.0]), RNG.normal(size=6), np.array([0.4, 1.7])
    same(ours.KroghInterpolator(x, gt.tensor(y)).derivative(at, 2), theirs.KroghInterpolator(x, y).derivative(at, 2))
    gt.gradcheck(lambda y, at: ours.KroghInterpolator(x, y)(at), y, at)
    nodes = np.cos(np.pi * np.arange(41) / 40)
    runge = lambda x: 1.0 / (1.0 + 4.0 * x**2)
    found = gt.vmap(gt.grad(lambda at: ours.BarycentricInterpolator(nodes, runge(nodes))(at)))(at / 2.0)
    np.testing.assert_allclose(found, theirs.BarycentricInterpolator(nodes, runge(nodes)).derivative(at / 2.0))
    grown = ours.BarycentricInterpolator(X[:4])
    grown.set_yi(gt.tensor(Y[:4]))
    grown.add_xi(X[4:6], gt.tensor(Y[4:6]))
    same(grown(at), theirs.BarycentricInterpolator(X[:6], Y[:6])(at))
    same(ours.krogh_interpolate(X[:5], gt.tensor(Y[:5]), at, 1), theirs.krogh_interpolate(X[:5], Y[:5], at, 1))
    same(ours.barycentric_interpolate(X[:5], gt.tensor(Y[:5]), at), theirs.barycentric_interpolate(X[:5], Y[:5], at))
    same(ours.lagrange(X[:5], gt.tensor(Y[:5])).coeffs, theirs.lagrange(X[:5], Y[:5]).coeffs)
    gt.gradcheck(lambda x, y, at: ours.lagrange(x, y)(at), X[:4], Y[:4], at)
    series = np.array([1.0, 1.0, 0.5, 0.2, 0.04, 0.01])
    for m, n in ((2, None), (1, 3)):
        for one, other in zip(ours.pade(gt.tensor(series), m, n), theirs.pade(series, m, n), strict=True):
            same(one.coeffs, other.coeffs)
    gt.gradcheck(lambda a: [each.coeffs for each in ours.pade(a, 2)], series)


def test_cubics_on_triangles() -> None:
    """Clough and Tocher's interpolation is SciPy's to its tolerance; gradients by values, places and points."""
    places, values = RNG.normal(size=(14, 2)), RNG.normal(size=(14, 2))
    at = places[:6].mean(axis=0) + 0.1 * RNG.normal(size=(4, 2))
    for scale in (np.ones(2), np.array([1.0, 100.0])):
        options = {"rescale": bool(scale[1] > 1)}
        plain = theirs.CloughTocher2DInterpolator(places * scale, values, tol=1e-13, maxiter=20000, **options)
        moving = ours.CloughTocher2DInterpolator(places * scale, gt.tensor(values), **options)
        same(moving(at * scale), plain(at * scale))
        same(moving.grad, plain.grad)
    mixed = ours.CloughTocher2DInterpolator(places, values)
    default = theirs.CloughTocher2DInterpolator(places, values)
    assert np.array_equal(mixed(at), default(at))
    np.testing.assert_allclose(mixed(gt.tensor(at)).numpy(), default(at), rtol=1e-4, atol=1e-5)
    assert np.isnan(moving(np.array([[900.0, 900.0]])).numpy()).all()
    call = lambda places, values, at: ours.griddata(places, values, at, method="cubic")
    triangles = Delaunay(places)  # once: SciPy's search for a triangle has a slow beginning
    within = lambda values, at: ours.CloughTocher2DInterpolator(triangles, values)(at)
    gt.gradcheck(within, values[:, 0], at, order=2, **LOOSE)
    turned = places @ np.array([[0.3, -1.0], [0.7, 0.2]])
    gt.gradcheck(lambda t: call(places + t * turned, values[:, 0], at), 0.01, **LOOSE)
    np.testing.assert_allclose(gt.vmap(lambda v: call(places, v, at))(values.T), default(at).T, rtol=1e-4, atol=1e-5)
    with pytest.warns(JitWarning, match="not compiled"):
        found = gt.jit(gt.grad(lambda v: call(places, v, at).sum()))(values[:, 0])
    np.testing.assert_allclose(found, gt.grad(lambda v: call(places, v, at).sum())(values[:, 0]))


@pytest.mark.parametrize("function", ["multiquadric", "inverse", "gaussian", "linear", "quintic", "thin_plate"])
def test_radial_basis_functions_of_the_older_class(function: str) -> None:
    """`Rbf` has SciPy's values, with and without a scale; gradients by everything."""
    x, y, d = RNG.normal(size=(3, 7))
    at = RNG.normal(size=(2, 2, 2))
    for scale in (None, 1.3):
        make = lambda m, x, d, s, e=scale: m.Rbf(x, y, d, function=function, epsilon=e, smooth=s)
        plain, mixed = make(theirs, x, d, 0.1), make(ours, x, d, 0.1)
        same(make(ours, gt.tensor(x), gt.tensor(d), 0.1)(*at), plain(*at))
        same(mixed(gt.tensor(at[0]), at[1]), plain(*at))
        assert np.array_equal(mixed(*at), plain(*at))
        gt.gradcheck(lambda x, d, s, a, make=make: make(ours, x, d, s)(a, at[1]), x, d, 0.1, at[0], **LOOSE)


def test_bernstein_polynomials() -> None:
    """Values, derivatives and integrals are SciPy's; polynomials of values and derivatives, and of powers."""
    c, x = RNG.normal(size=(4, 3, 2)), np.array([0.0, 1.0, 2.5, 3.0])
    at = np.array([[0.3, 1.7], [-0.2, 3.5]])
    plain, mixed = theirs.BPoly(c, x), ours.BPoly(c, x)
    assert np.array_equal(mixed(at), plain(at))
    for each in (ours.BPoly(gt.tensor(c), gt.tensor(x)), mixed):
        for order in (0, 1, 2):
            same(each(gt.tensor(at), order), plain(at, order))
        same(each.derivative(2).c, plain.derivative(2).c)
        same(each.antiderivative(2).c, plain.antiderivative(2).c)
        same(each.integrate(gt.tensor(0.5), 2.0), plain.integrate(0.5, 2.0))
    gt.gradcheck(lambda c, x, at: ours.BPoly(c, x)(at), c, x, at)
    rows = [[1.0, 2.0], [0.5, -1.0, 3.0], [2.0], [0.0, 1.0]]
    same(ours.BPoly.from_derivatives(gt.tensor(x), rows).c, theirs.BPoly.from_derivatives(x, rows).c)
    same(ours.BPoly.from_derivatives(gt.tensor(x), rows, 1).c, theirs.BPoly.from_derivatives(x, rows, 1).c)
    powers = ours.PPoly(gt.tensor(c), x)
    same(ours.BPoly.from_power_basis(powers).c, theirs.BPoly.from_power_basis(theirs.PPoly(c, x)).c)
