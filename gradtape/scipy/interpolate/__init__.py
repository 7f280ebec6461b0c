"""`scipy.interpolate` with gradients: by the points at which it is evaluated, by values, and by the points they are at.

>>> import numpy as np, gradtape as gt
>>> from gradtape.scipy.interpolate import CubicSpline
>>> x = np.linspace(0.0, 1.0, 6)
>>> area = lambda y: CubicSpline(x, y).integrate(0.0, 1.0)
>>> gt.grad(area)(np.sin(x)).shape
(6,)
"""

from gradtape.scipy.interpolate.bsplines import BSpline, make_interp_spline, make_lsq_spline, splev, splint
from gradtape.scipy.interpolate.gridded import RegularGridInterpolator, interp1d, interpn, pchip_interpolate
from gradtape.scipy.interpolate.piecewise import (
    Akima1DInterpolator,
    CubicHermiteSpline,
    CubicSpline,
    PchipInterpolator,
    PPoly,
    original,
)
from gradtape.scipy.interpolate.scattered import (
    LinearNDInterpolator,
    NearestNDInterpolator,
    RBFInterpolator,
    griddata,
)

pchip = PchipInterpolator

CLASSES = [
    Akima1DInterpolator,
    BSpline,
    CubicHermiteSpline,
    CubicSpline,
    LinearNDInterpolator,
    NearestNDInterpolator,
    PPoly,
    PchipInterpolator,
    RBFInterpolator,
    RegularGridInterpolator,
    interp1d,
]
original.functions.update({"pchip": pchip, **{each.__name__: each for each in CLASSES}})

__all__ = [
    "Akima1DInterpolator",
    "BSpline",
    "CubicHermiteSpline",
    "CubicSpline",
    "LinearNDInterpolator",
    "NearestNDInterpolator",
    "PPoly",
    "PchipInterpolator",
    "RBFInterpolator",
    "RegularGridInterpolator",
    "griddata",
    "interp1d",
    "interpn",
    "make_interp_spline",
    "make_lsq_spline",
    "pchip",
    "pchip_interpolate",
    "splev",
    "splint",
]

REASONS = {
    "has knots that FITPACK chooses by the values; make_interp_spline and make_lsq_spline, with knots that are given, "
    "are differentiated": "splrep splprep make_splrep make_splprep generate_knots UnivariateSpline "
    "LSQUnivariateSpline InterpolatedUnivariateSpline bisplrep BivariateSpline SmoothBivariateSpline "
    "LSQBivariateSpline RectBivariateSpline SmoothSphereBivariateSpline LSQSphereBivariateSpline "
    "RectSphereBivariateSpline",
    "has a weight that cross-validation chooses; make_lsq_spline is differentiated": "make_smoothing_spline",
    "works on FITPACK's form; BSpline(*tck) has derivative, antiderivative and __call__, which are differentiated": (
        "splder splantider spalde sproot insert bisplev"
    ),
    "finds the slopes at the points by an iteration; LinearNDInterpolator and RBFInterpolator are differentiated": (
        "CloughTocher2DInterpolator"
    ),
    "has no derivative here; make_interp_spline or RegularGridInterpolator are differentiated": "BPoly NdPPoly "
    "NdBSpline BarycentricInterpolator KroghInterpolator barycentric_interpolate krogh_interpolate "
    "FloaterHormannInterpolator AAA Rbf interp2d",
    "returns a polynomial as an object of coefficients that are numbers": "lagrange pade approximate_taylor_polynomial",
}

__getattr__, __dir__, __test__ = original.module(globals(), REASONS)
