"""Newton's method of SciPy with Hessian-vector products."""

import numpy as np
from scipy.optimize import minimize

import gradtape as gt

f = lambda x: np.sum(np.cosh(x - np.arange(4.0))) + 0.1 * np.sum(x**2)
hessp = lambda x, v: gt.jvp(gt.grad(f), (x,), (v,))[1]
result = minimize(f, np.zeros(4), jac=gt.grad(f), hessp=hessp, method="Newton-CG")
assert np.linalg.norm(gt.grad(f)(result.x)) < 1e-4
