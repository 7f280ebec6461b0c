"""An integral along a circle in the complex plane: resolvents applied to a block of vectors.

Eigenvalues inside of a region (Beyn's and Sakurai's methods), quantum transport.
"""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1)
SMALL = (3, 2, 4)
PAPER = (40, 6, 16)


def initialise(size):
    n, block, nodes = size
    rng = default_rng(40)
    root = rng.standard_normal((n, n))
    return (root + root.T) / (2 * n**0.5), rng.standard_normal((n, block)), nodes


def program(H, Y, nodes):
    P0 = np.zeros(Y.shape, dtype=complex)
    P1 = np.zeros(Y.shape, dtype=complex)
    for k in range(nodes):
        z = 5.0 * numpy.exp(2j * numpy.pi * (k + 0.5) / nodes)
        T = z * numpy.eye(H.shape[0]) - H
        X = np.linalg.solve(T, Y + 0j)
        P0 += z * X / nodes
        P1 += z * z * X / nodes
    return np.sum(np.abs(P0) ** 2) + np.sum(np.abs(P1) ** 2)
