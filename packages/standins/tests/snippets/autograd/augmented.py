"""`x += y` in a function that is differentiated makes a new value: other names go on to mean the old one."""

import autograd.numpy as np
from autograd import elementwise_grad, grad, jacobian


def shifted(x):
    x += 1.0
    x *= 2.0
    return np.sum(x**2)


def aliased(x):
    y = x * 1.0
    z = y
    z += 1.0
    return np.sum(x * y * z)


def summed(x):
    total = 0.0
    parts = [x, x * 2]
    parts[1] -= 5.0
    for part in parts:
        total += np.sum(part**2)
    return total


point = np.array([1.0, 2.0])
for function in (shifted, aliased, summed):
    print(function.__name__, grad(function)(point), point)
print(grad(shifted)(3.0))
print(jacobian(lambda x: x * 2.0)(np.array([1, 2])))
print(elementwise_grad(np.sin)(np.array([1, 2])), grad(lambda x: np.sum(1.0 / x))(np.array([1, 2])))
for wrong in (lambda: grad(lambda x: x)(point), lambda: grad(np.sin)(3), lambda: grad(lambda x: x)("text")):
    try:
        wrong()
    except TypeError as error:
        print(type(error).__name__)
