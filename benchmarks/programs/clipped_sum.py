"""A clipped array in a linear combination, with results written through `out=`.

Image arithmetic, feature scaling.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1)
SMALL = (4, 5)
PAPER = (200, 200)


def initialise(size):
    rng = default_rng(47)
    return 12.0 * rng.random(size), 10.0 * rng.random(size), 4.0, 3.0, 9.0


def program(first, second, a, b, c):
    out = np.empty(first.shape)
    np.clip(first, 2.0, 10.0, out=out)
    np.multiply(out, a, out=out)
    out += second * b
    out += c
    return np.mean(np.log(out))
