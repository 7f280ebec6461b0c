"""Gradients through the solution of a differential equation."""

import autograd.numpy as np
from autograd import grad, jacobian
from autograd.builtins import tuple
from autograd.scipy.integrate import odeint


def dynamics(y, t, rate, omega):
    return np.array([y[1], -rate * y[1] - omega**2 * y[0]])


y0, times = np.array([1.0, 0.0]), np.linspace(0.0, 2.0, 5)
options = {"rtol": 1e-7, "atol": 1e-7}
solve = lambda y0, times, rate, omega: odeint(dynamics, y0, times, tuple((rate, omega)), **options)
print(solve(y0, times, 0.3, 2.0))
loss = lambda *args: np.sum(solve(*args) ** 2)
for argnum in range(4):
    print(grad(loss, argnum)(y0, times, 0.3, 2.0))
print(jacobian(lambda y0: solve(y0, times, 0.3, 2.0)[-1])(y0))
