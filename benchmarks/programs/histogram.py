"""A weighted histogram, and the average weight of each bin.

Spectra, densities of states, radial distributions.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (1,)
SMALL = (30, 4)
PAPER = (100000, 200)


def initialise(size):
    count, bins = size
    rng = default_rng(22)
    return rng.random(count), rng.random(count), bins


def program(radius, weight, bins):
    position = np.minimum((radius * bins).astype(int), bins - 1)
    total = np.zeros(bins)
    number = np.zeros(bins)
    np.add.at(total, position, weight)
    np.add.at(number, position, 1.0)
    return np.sum((total / number) ** 2)
