"""A constrained minimum by SLSQP, with gradients of objective and constraint."""

import numpy as np
from scipy.optimize import minimize

import gradtape as gt

returns = np.array([0.05, 0.1, 0.07])
covariance = np.diag([0.02, 0.1, 0.04]) + 0.005
risk = lambda w: w @ covariance @ w - 0.5 * returns @ w
budget = lambda w: np.sum(w) - 1.0
constraint = {"type": "eq", "fun": budget, "jac": gt.grad(budget)}
result = minimize(risk, np.ones(3) / 3, jac=gt.grad(risk), method="SLSQP", constraints=constraint)
assert abs(result.x.sum() - 1.0) < 1e-8
assert result.success
