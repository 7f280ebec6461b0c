"""`scipy.integrate` with gradients: initial and boundary value problems, integrals of functions and of samples.

The functions of the user's may read tensors in any way: as arguments (`args=`), or from the code around them.

>>> import numpy as np, gradtape as gt
>>> from gradtape.scipy import integrate
>>> def area(k):
...     return integrate.quad(lambda x: np.exp(-k * x), 0, np.inf)[0]
>>> bool(abs(gt.grad(area)(2.0) + 0.25) < 1e-7)
True
"""

from gradtape.scipy.integrate.boundary_values import solve_bvp
from gradtape.scipy.integrate.initial_values import odeint, original, solve_ivp
from gradtape.scipy.integrate.integrals import dblquad, fixed_quad, nquad, quad, quad_vec, tplquad
from gradtape.scipy.integrate.samples import cumulative_simpson, cumulative_trapezoid, romb, simpson, trapezoid

__all__ = [
    "cumulative_simpson",
    "cumulative_trapezoid",
    "dblquad",
    "fixed_quad",
    "nquad",
    "odeint",
    "quad",
    "quad_vec",
    "romb",
    "simpson",
    "solve_bvp",
    "solve_ivp",
    "tplquad",
    "trapezoid",
]

REASONS = {
    "is a sum over random points, whose number decides the error; quad and nquad are differentiated": "qmc_quad",
    "has no derivative here; quad, quad_vec and nquad, which integrate the same functions, have": "cubature tanhsinh",
    "has no derivative here; np.sum over as many terms as matter has": "nsum",
    "returns points and weights for whole numbers, which have no gradient": "newton_cotes lebedev_rule",
    "is a solver whose steps are taken one by one; solve_ivp and odeint are differentiated": "ode complex_ode "
    "OdeSolver RK23 RK45 DOP853 Radau BDF LSODA",
}

__getattr__, __dir__, __test__ = original.module(globals(), REASONS)
