"""Second derivatives meet first ones: the gradient of a gradient penalty, and of an inner optimisation."""

import autograd.numpy as np
from autograd import elementwise_grad, grad


def penalty(w, x):
    f = lambda x: np.sum(np.tanh(x @ w))
    return np.sum(grad(f)(x) ** 2)


w, x = np.array([0.5, -1.0]), np.array([[1.0, 2.0], [0.3, -0.7]])
print(penalty(w, x))
print(grad(penalty)(w, x))


def inner(log_step):
    theta = np.array([1.0, -1.0])
    for _ in range(5):
        theta = theta - np.exp(log_step) * grad(lambda t: np.sum(t**4) + t[0] * t[1])(theta)
    return np.sum(theta**2)


print(inner(-3.0), grad(inner)(-3.0))
print(elementwise_grad(elementwise_grad(lambda x: x**3 * np.exp(-x)))(np.array([0.5, 1.0])))
