"""Poisson regression by gradient descent."""

import autograd.numpy as np
from autograd import grad

hours = np.array([[1.0, 0.2], [1.0, 0.9], [1.0, 1.7], [1.0, 2.1], [1.0, 3.0]])
counts = np.array([1, 1, 3, 4, 9])


def loss(weights):
    log_rate = np.dot(hours, weights)
    return np.mean(np.exp(log_rate) - counts * log_rate)


weights = np.zeros(2)
print("at the start", loss(weights))
gradient = grad(loss)
for _ in range(200):
    weights -= 0.1 * gradient(weights)
print("at the end", loss(weights))
print(weights, np.abs(gradient(weights)).max() < 0.05)
