"""The likelihood of a Gaussian process as a function of its kernel's parameters, climbed with SciPy."""

import autograd.numpy as np
import autograd.scipy.stats.multivariate_normal as normal
from autograd import value_and_grad
from scipy.optimize import minimize

places = np.array([0.0, 0.4, 1.1, 1.9, 2.2, 3.1, 3.3, 4.6])
values = np.sin(1.5 * places) + np.array([0.05, -0.1, 0.02, 0.08, -0.04, 0.0, 0.07, -0.03])


def kernel(log_height, log_width):
    distances = (places[:, None] - places[None, :]) / np.exp(log_width)
    return np.exp(log_height) * np.exp(-0.5 * distances**2)


def objective(logs):
    covariance = kernel(logs[0], logs[1]) + np.exp(logs[2]) * np.eye(len(places))
    return -normal.logpdf(values, np.zeros(len(places)), covariance)


start = np.array([0.0, 0.0, -2.0])
value, gradient = value_and_grad(objective)(start)
print(value, gradient)
found = minimize(value_and_grad(objective), start, jac=True, method="L-BFGS-B")
print(f"{found.fun:.4f}", np.round(found.x, 2))
