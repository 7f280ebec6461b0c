"""Structures as vectors and back, and gradients through both."""

import autograd.numpy as np
from autograd import grad
from autograd.misc.flatten import flatten, flatten_func

value = {"b": [np.array([[1.0, 2.0], [3.0, 4.0]]), 5.0], "a": (6.0, np.array([7.0]))}
vector, unflatten = flatten(value)
print(vector)
back = unflatten(2 * vector)
print(back["b"][0], back["b"][1], back["a"][0], back["a"][1])
print(grad(lambda v: np.sum(unflatten(v)["b"][0] ** 2))(vector))
flat, _, example = flatten_func(lambda p: {"c": p["a"][0] * p["b"][0]}, value)
print(flat(example))
