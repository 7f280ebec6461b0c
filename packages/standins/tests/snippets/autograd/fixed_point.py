"""The derivative of a fixed point with respect to a parameter: Kepler's equation."""

import autograd.numpy as np
from autograd import grad
from autograd.misc.fixed_points import fixed_point


def anomaly(eccentricity, time=1.2):
    step = lambda e: lambda angle: time + e * np.sin(angle)
    return fixed_point(step, eccentricity, time, lambda a, b: np.abs(a - b), 1e-12)


angle = anomaly(0.4)
print(angle, angle - 0.4 * np.sin(angle))
print(grad(anomaly)(0.4), np.sin(angle) / (1 - 0.4 * np.cos(angle)))
print(grad(grad(anomaly))(0.4))
