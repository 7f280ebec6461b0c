"""Which argument: by number, by several numbers, by name."""

import autograd.numpy as np
from autograd import grad, grad_named


def f(x, y, scale=1.0):
    return scale * np.sum(np.sin(x) * y)


x, y = np.array([0.1, 0.2]), np.array([3.0, 4.0])
print(grad(f)(x, y))
print(grad(f, 1)(x, y))
gx, gy = grad(f, (0, 1))(x, y, scale=2.0)
print(gx, gy)
print(grad_named(f, "y")(x, y))
print(grad(f, 2)(x, y, 1.0))
