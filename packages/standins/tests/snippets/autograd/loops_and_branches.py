"""Loops and branches on values: the gradient follows whatever Python does."""

import autograd.numpy as np
from autograd import grad


def logarithm(x, tolerance=1e-12):
    """By Newton's method on exp(y) = x, until a step is short."""
    y, step = 0.0 * x, 1.0
    while abs(step) > tolerance:
        step = x * np.exp(-y) - 1.0
        y = y + step
    return y


print(logarithm(2.5), np.log(2.5))
print(grad(logarithm)(2.5), grad(grad(logarithm))(2.5))


def huber(residuals, width):
    total = 0.0
    for r in residuals:
        if np.abs(r) < width:
            total = total + 0.5 * r**2
        else:
            total = total + width * (np.abs(r) - 0.5 * width)
    return total


print(grad(huber)(np.array([0.3, -2.0, 1.0, 5.0]), 1.5))
print(grad(huber, 1)(np.array([0.3, -2.0, 1.0, 5.0]), 1.5))
