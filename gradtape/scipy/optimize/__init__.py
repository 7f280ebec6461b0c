"""`scipy.optimize` with gradients: what a solver finds moves with whatever its functions read.

The functions may read tensors in any way: as arguments (`args=`), or from the code around them. The derivative of a
solution is that of the conditions that hold there (the implicit function theorem), not of the steps of the solver.

>>> import numpy as np, gradtape as gt
>>> from gradtape.scipy import optimize
>>> def root_of(k):
...     return optimize.brentq(lambda x: x + np.exp(x) - k, -5.0, 5.0)
>>> round(float(gt.grad(root_of)(1.0)), 6)
0.5
"""

from gradtape.scipy.optimize.fits import curve_fit, least_squares, leastsq
from gradtape.scipy.optimize.linear import linear_sum_assignment, linprog, lsq_linear, nnls, rosen, rosen_der
from gradtape.scipy.optimize.minima import (
    basinhopping,
    brent,
    brute,
    differential_evolution,
    direct,
    dual_annealing,
    fmin,
    fmin_bfgs,
    fmin_cg,
    fmin_ncg,
    fmin_powell,
    fminbound,
    golden,
    minimize,
    minimize_scalar,
    shgo,
)
from gradtape.scipy.optimize.roots import (
    anderson,
    bisect,
    brenth,
    brentq,
    broyden1,
    broyden2,
    diagbroyden,
    excitingmixing,
    fixed_point,
    fsolve,
    linearmixing,
    newton,
    newton_krylov,
    original,
    ridder,
    root,
    root_scalar,
    toms748,
)

__all__ = [
    "anderson",
    "basinhopping",
    "bisect",
    "brent",
    "brenth",
    "brentq",
    "broyden1",
    "broyden2",
    "brute",
    "curve_fit",
    "diagbroyden",
    "differential_evolution",
    "direct",
    "dual_annealing",
    "excitingmixing",
    "fixed_point",
    "fmin",
    "fmin_bfgs",
    "fmin_cg",
    "fmin_ncg",
    "fmin_powell",
    "fminbound",
    "fsolve",
    "golden",
    "least_squares",
    "leastsq",
    "linear_sum_assignment",
    "linearmixing",
    "linprog",
    "lsq_linear",
    "minimize",
    "minimize_scalar",
    "newton",
    "newton_krylov",
    "nnls",
    "ridder",
    "root",
    "root_scalar",
    "rosen",
    "rosen_der",
    "shgo",
    "toms748",
]

REASONS = {
    "has no derivative: it searches over whole numbers": "milp quadratic_assignment",
    "has bounds or constraints that minimize takes too, which is differentiated": "fmin_l_bfgs_b fmin_tnc fmin_slsqp "
    "fmin_cobyla",
    "is a difference quotient; gt.grad and gt.gradcheck are exact": "approx_fprime check_grad",
    "is one step of a solver; the solution of minimize is differentiated": "line_search bracket",
    "has no derivative here; lsq_linear, with bounds on the differences, has": "isotonic_regression",
    "has no derivative here; gt.hessian of rosen is the same": "rosen_hess rosen_hess_prod",
    "prints or explains, and computes nothing": "show_options linprog_verbose_callback",
}

__getattr__, __dir__, __test__ = original.module(globals(), REASONS)
