"""Gradients of nested structures have the structure of the argument."""

import autograd.numpy as np
from autograd import grad, value_and_grad


def loss(params):
    hidden = np.tanh(params["w"] @ np.array([1.0, -2.0]) + params["b"][0])
    return np.sum(hidden * params["b"][1])


params = {"w": np.array([[0.1, 0.2], [0.3, 0.4]]), "b": (np.array([0.0, 1.0]), np.array([2.0, 3.0]))}
value, gradient = value_and_grad(loss)(params)
print(value)
print(sorted(gradient), type(gradient["b"]).__name__, gradient["w"].shape)
print(gradient["w"])
print(gradient["b"][0], gradient["b"][1])

unused = grad(lambda p: np.sum(p[0]))([np.ones(2), np.ones(3)])
print(unused[0], unused[1])
