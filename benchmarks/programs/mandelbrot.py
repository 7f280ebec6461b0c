"""The set of Mandelbrot with smooth colours; what has escaped is no longer iterated (a mask that is written through).

Fractals, and all iterations in which the elements finish one after the other.
"""

import numpy

import gradtape.numpy as np

ARGUMENTS = (0, 1)
SMALL = (5, 6, 6)
PAPER = (80, 80, 30)


def initialise(size):
    nx, ny, iterations = size
    return numpy.linspace(-2.1, 0.6, nx), numpy.linspace(-1.2, 1.3, ny), iterations


def program(x, y, iterations):
    C = x + y[:, None] * 1j
    Z = np.zeros(C.shape, dtype=complex)
    colour = np.zeros(C.shape)
    for n in range(iterations):
        inside = np.abs(Z) < 8.0
        Z[inside] = Z[inside] ** 2 + C[inside]
        escaped = inside & (np.abs(Z) >= 8.0)
        colour[escaped] = n + 1 - np.log2(np.log(np.abs(Z[escaped])))
    return np.sum(colour**2) / colour.size
