"""Thomas's algorithm: a tridiagonal system by elimination and back substitution, coefficients overwritten.

Splines, implicit diffusion in one dimension, cable equations.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1, 2, 3)
SMALL = (6,)
PAPER = (300,)


def initialise(size):
    (n,) = size
    rng = default_rng(11)
    return rng.random(n), 3.0 + rng.random(n), rng.random(n), rng.random(n)


def program(a, b, c, d):
    n = d.shape[0]
    x = np.zeros(n)
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    x[n - 1] = d[n - 1] / b[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = (d[i] - c[i] * x[i + 1]) / b[i]
    return np.sum(x**2)


def concatenated(a, b, c, d):
    n = d.shape[0]
    pivots, sides = [b[0]], [d[0]]
    for i in range(1, n):
        w = a[i] / pivots[-1]
        pivots.append(b[i] - w * c[i - 1])
        sides.append(d[i] - w * sides[-1])
    x = [sides[-1] / pivots[-1]]
    for i in range(n - 2, -1, -1):
        x.append((sides[i] - c[i] * x[-1]) / pivots[i])
    return np.sum(np.stack(x) ** 2)
