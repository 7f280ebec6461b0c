"""SciPy's optimisers over nested structures, with derivatives filled in, and solutions that can be differentiated."""

from gradtape.optimize.equations import fixed_point, root, root_scalar
from gradtape.optimize.fitting import CurveFit, curve_fit, least_squares
from gradtape.optimize.minimising import minimize, minimize_scalar
from gradtape.optimize.result import OptimizeResult

__all__ = [
    "CurveFit",
    "OptimizeResult",
    "curve_fit",
    "fixed_point",
    "least_squares",
    "minimize",
    "minimize_scalar",
    "root",
    "root_scalar",
]
