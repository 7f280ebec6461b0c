"""Scattering self-energies of electrons by phonons: sums of small matrix products over neighbours and energies.

Quantum transport through nanoscale devices.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1, 2)
SMALL = (1, 2, 2, 2)
PAPER = (4, 8, 6, 3)


def initialise(size):
    momenta, energies, atoms, orbitals = size
    rng = default_rng(20)
    neighbours = rng.integers(0, atoms, (atoms, 2))
    G = rng.random((momenta, energies, atoms, orbitals, orbitals))
    D = rng.random((momenta, 2, atoms, 2))
    dH = rng.random((atoms, 2, orbitals, orbitals))
    return G, D, dH, neighbours


def program(G, D, dH, neighbours):
    sigma = np.zeros(G.shape)
    for k in range(G.shape[0]):
        for q in range(D.shape[0]):
            for w in range(D.shape[1]):
                for a in range(neighbours.shape[0]):
                    for b in range(neighbours.shape[1]):
                        lost = G[k, : G.shape[1] - w, neighbours[a, b]]
                        sigma[k, w:, a] += (lost @ dH[a, b]) @ (D[q, w, a, b] * dH[a, b])
    return np.sum(sigma * sigma)
