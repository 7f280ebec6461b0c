"""Barrier method: the step is shortened until the logarithm is defined, and infinity is never differentiated."""

import numpy as np

import gradtape as gt


def barrier(x):
    return np.sum(x) - 0.1 * np.sum(np.log(x)) - 0.1 * np.log(3.0 - np.sum(x))


x = np.ones(2)
for _ in range(50):
    g = gt.grad(barrier)(x)
    step = 0.5
    while np.any(x - step * g <= 0.0):
        step *= 0.5
    x = x - 0.3 * step * g
assert np.all(x > 0.0)
assert barrier(x) < barrier(np.ones(2))
