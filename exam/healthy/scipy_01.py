"""SciPy's least_squares with a Jacobian from gradtape."""

import numpy as np
from scipy.optimize import least_squares

import gradtape as gt

x = np.linspace(0, 4, 30)
y = 3.0 / (1.0 + np.exp(-2.0 * (x - 1.5)))
residuals = lambda p: p[0] * gt.sigmoid(p[1] * (x - p[2])) - y
plain = lambda p: np.asarray(residuals(gt.tensor(p)).numpy())
fit = least_squares(plain, np.array([2.0, 1.0, 1.0]), jac=gt.jacobian(residuals))
assert np.allclose(fit.x, [3.0, 2.0, 1.5])
