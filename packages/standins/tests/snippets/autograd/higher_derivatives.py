"""Derivatives of derivatives of an elementwise function."""

import autograd.numpy as np
from autograd import elementwise_grad


def bell(x):
    return np.exp(-0.5 * x**2)


x = np.linspace(-2, 2, 5)
derivative = bell
for order in range(6):
    print(order, derivative(x))
    derivative = elementwise_grad(derivative)
