"""Jacobians and Hessians: the output's axes first, the input's last."""

import autograd.numpy as np
from autograd import hessian, jacobian


def polar(p):
    return np.array([p[0] * np.cos(p[1]), p[0] * np.sin(p[1])])


print(jacobian(polar)(np.array([2.0, 0.5])))
print(jacobian(lambda x: np.outer(x, x))(np.array([1.0, 2.0, 3.0])).shape)


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


print(hessian(rosenbrock)(np.array([1.0, 2.0, 3.0])))
print(hessian(lambda x: x**3)(np.array([1.0, 2.0])).shape)
