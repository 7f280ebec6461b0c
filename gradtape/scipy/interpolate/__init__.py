"""`scipy.interpolate` with gradients: by the points at which it is evaluated, by values, and by the points they are at.

>>> import numpy as np, gradtape as gt
>>> from gradtape.scipy.interpolate import CubicSpline
>>> x = np.linspace(0.0, 1.0, 6)
>>> area = lambda y: CubicSpline(x, y).integrate(0.0, 1.0)
>>> gt.grad(area)(np.sin(x)).shape
(6,)
"""

from gradtape.scipy.interpolate.bernstein import BPoly
from gradtape.scipy.interpolate.bivariate import RectBivariateSpline, bisplev
from gradtape.scipy.interpolate.bsplines import BSpline, make_interp_spline, make_lsq_spline, splev, splint
from gradtape.scipy.interpolate.fitpack import (
    InterpolatedUnivariateSpline,
    LSQUnivariateSpline,
    UnivariateSpline,
    make_smoothing_spline,
    make_splprep,
    make_splrep,
    spalde,
    splantider,
    splder,
    splprep,
    splrep,
    sproot,
)
from gradtape.scipy.interpolate.gridded import RegularGridInterpolator, interp1d, interpn, pchip_interpolate
from gradtape.scipy.interpolate.piecewise import (
    Akima1DInterpolator,
    CubicHermiteSpline,
    CubicSpline,
    PchipInterpolator,
    PPoly,
    original,
)
from gradtape.scipy.interpolate.polynomials import (
    BarycentricInterpolator,
    KroghInterpolator,
    barycentric_interpolate,
    krogh_interpolate,
    lagrange,
    pade,
)
from gradtape.scipy.interpolate.scattered import (
    LinearNDInterpolator,
    NearestNDInterpolator,
    Rbf,
    RBFInterpolator,
    griddata,
)
from gradtape.scipy.interpolate.triangles import CloughTocher2DInterpolator

pchip = PchipInterpolator

CLASSES = [
    Akima1DInterpolator,
    BPoly,
    BSpline,
    BarycentricInterpolator,
    CloughTocher2DInterpolator,
    CubicHermiteSpline,
    CubicSpline,
    InterpolatedUnivariateSpline,
    KroghInterpolator,
    LSQUnivariateSpline,
    LinearNDInterpolator,
    NearestNDInterpolator,
    PPoly,
    PchipInterpolator,
    RBFInterpolator,
    Rbf,
    RectBivariateSpline,
    RegularGridInterpolator,
    UnivariateSpline,
    interp1d,
]
original.functions.update({"pchip": pchip, **{each.__name__: each for each in CLASSES}})

__all__ = [
    "Akima1DInterpolator",
    "BPoly",
    "BSpline",
    "BarycentricInterpolator",
    "CloughTocher2DInterpolator",
    "CubicHermiteSpline",
    "CubicSpline",
    "InterpolatedUnivariateSpline",
    "KroghInterpolator",
    "LSQUnivariateSpline",
    "LinearNDInterpolator",
    "NearestNDInterpolator",
    "PPoly",
    "PchipInterpolator",
    "RBFInterpolator",
    "Rbf",
    "RectBivariateSpline",
    "RegularGridInterpolator",
    "UnivariateSpline",
    "barycentric_interpolate",
    "bisplev",
    "griddata",
    "interp1d",
    "interpn",
    "krogh_interpolate",
    "lagrange",
    "make_interp_spline",
    "make_lsq_spline",
    "make_smoothing_spline",
    "make_splprep",
    "make_splrep",
    "pade",
    "pchip",
    "pchip_interpolate",
    "spalde",
    "splantider",
    "splder",
    "splev",
    "splint",
    "splprep",
    "splrep",
    "sproot",
]

REASONS = {
    "has knots that FITPACK chooses by the values; RectBivariateSpline on a grid, griddata and RBFInterpolator of "
    "scattered points are differentiated": "bisplrep BivariateSpline SmoothBivariateSpline LSQBivariateSpline "
    "SmoothSphereBivariateSpline LSQSphereBivariateSpline RectSphereBivariateSpline",
    "chooses knots by the values; make_interp_spline and make_lsq_spline, with knots that are given, are "
    "differentiated": "generate_knots",
    "adds a knot without changing the spline, which splev of the given one is differentiated for": "insert",
    "chooses the points that it goes through by the values; BarycentricInterpolator is differentiated": "AAA",
    "is a rational function without a derivative here; BarycentricInterpolator and CubicSpline are differentiated": (
        "FloaterHormannInterpolator"
    ),
    "is of several variables, and has no derivative here; RegularGridInterpolator and RectBivariateSpline are "
    "differentiated": "NdBSpline NdPPoly",
    "has been removed from SciPy; RectBivariateSpline is differentiated": "interp2d",
    "fits a polynomial to a function; gt.grad of gt.grad has its Taylor coefficients": "approximate_taylor_polynomial",
}

__getattr__, __dir__, __test__ = original.module(globals(), REASONS)
