"""A primitive with a rule: log(cosh(x)), which must not overflow."""

import autograd.numpy as np
from autograd import grad
from autograd.extend import defvjp, primitive
from autograd.test_util import check_grads


@primitive
def log_cosh(x):
    """The logarithm of cosh(x), for large x too."""
    size = np.abs(x)
    return size + np.log1p(np.exp(-2.0 * size)) - np.log(2.0)


defvjp(log_cosh, lambda ans, x: lambda g: g * np.tanh(x))


def energy(y):
    return np.sum(log_cosh(y**2) * y)


print(log_cosh(np.array([0.0, 1.0, 1000.0])), log_cosh.__name__)
print(grad(energy)(np.array([0.5, -2.0, 40.0])))
check_grads(energy, modes=["rev"])(np.array([0.4, 0.7, -0.3]))
print("checked")


@primitive
def wrong(x):
    return x**2


defvjp(wrong, lambda ans, x: lambda g: g * x)
try:
    check_grads(wrong, modes=["rev"], order=1)(3.0)
except AssertionError:
    print("AssertionError")
