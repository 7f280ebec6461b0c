"""An Armijo line search with gt.value_and_grad and plain numbers."""

import numpy as np

import gradtape as gt


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


x = np.array([-1.0, 1.0])
start = rosenbrock(x)
for _ in range(60):
    value, g = gt.value_and_grad(rosenbrock)(x)
    t = 1.0
    while rosenbrock(x - t * g) > value - 1e-4 * t * g @ g:
        t *= 0.5
    x = x - t * g
assert rosenbrock(x) < 0.5 * start
