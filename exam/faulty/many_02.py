# expect: GT307
# cause: the objective returns the vector of residuals
# wrong: raises ShapeError
# cure: return residuals**2 -> return np.sum(residuals**2)
import numpy as np
from scipy.optimize import minimize

import gradtape as gt

t = np.linspace(0, 2, 15)
y = 1.5 * np.exp(-0.8 * t)


def objective(p):
    residuals = p[0] * np.exp(-p[1] * t) - y
    return residuals**2  # <- here


fit = minimize(gt.value_and_grad(objective), np.array([1.0, 1.0]), jac=True)  # <- here
