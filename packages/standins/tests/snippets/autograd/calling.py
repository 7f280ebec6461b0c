"""Signatures with defaults and keywords, methods, partial functions."""

from functools import partial

import autograd.numpy as np
from autograd import grad, jacobian, value_and_grad


class Model:
    def __init__(self, scale):
        self.scale = scale

    def loss(self, x, offset=0.0):
        return self.scale * np.sum((x - offset) ** 2)


model = Model(3.0)
x = np.array([1.0, 2.0])
print(grad(model.loss)(x))
print(grad(model.loss)(x, offset=1.0))
print(grad(partial(model.loss, offset=2.0))(x))
print(grad(Model.loss, 1)(model, x))
print(value_and_grad(lambda x, *rest, **named: x * sum(rest) * named["k"])(2.0, 3.0, 4.0, k=5.0))
print(jacobian(lambda x, n: np.array([x**k for k in range(n)]))(2.0, 4))
