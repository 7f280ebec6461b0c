"""Conjugate gradients with updates in place, until the residual is small.

Large symmetric systems: finite elements, inverse problems.
"""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1)
SMALL = (6, 1e-10)
PAPER = (150, 1e-8)


def initialise(size):
    n, tolerance = size
    rng = default_rng(36)
    root = rng.standard_normal((n, n)) / n**0.5
    return root @ root.T + 2.0 * numpy.eye(n), rng.standard_normal(n), tolerance


def program(A, b, tolerance):
    x = np.zeros_like(b)
    r = b - A @ x
    p = r.copy()
    rs = r @ r
    while rs > tolerance:
        Ap = A @ p
        step = rs / (p @ Ap)
        x += step * p
        r -= step * Ap
        new = r @ r
        p *= new / rs
        p += r
        rs = new
    return np.sum(x * np.sin(x))
