"""The gradient of a function written with NumPy, beside finite differences."""

import autograd.numpy as np
from autograd import grad


def swing(angle):
    """The potential of a pendulum that is pulled to the side."""
    return 1.0 - np.cos(angle) - 0.3 * angle


slope = grad(swing)
print(slope(1.0))
print((swing(1.0 + 1e-4) - swing(1.0 - 1e-4)) / 2e-4)
print(slope.__name__)
print(grad(slope)(1.0), np.cos(1.0))
