"""A checkpointed function has the same gradient."""

import autograd.numpy as np
from autograd import checkpoint, grad, grad_and_aux


def layers(x, w):
    for _ in range(5):
        x = np.tanh(np.dot(w, x))
    return np.sum(x**2)


w, x = np.array([[0.5, -0.2], [0.3, 0.8]]), np.array([1.0, -1.0])
print(grad(layers, 1)(x, w))
print(grad(checkpoint(layers), 1)(x, w))
gradient, aux = grad_and_aux(lambda x: (np.sum(x**2), x[0] * 10))(x)
print(gradient, aux)
