"""Distances between points on the globe, and their smallest per row.

Geography, astronomy.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1, 2, 3)
SMALL = (4,)
PAPER = (30000,)


def initialise(size):
    rng = default_rng(46)
    return tuple(rng.random(size) for _ in range(4))


def program(theta_1, phi_1, theta_2, phi_2):
    temp = np.sin((theta_2 - theta_1) / 2) ** 2 + np.cos(theta_1) * np.cos(theta_2) * np.sin((phi_2 - phi_1) / 2) ** 2
    distance = 2 * np.arctan2(np.sqrt(temp), np.sqrt(1 - temp))
    distance[distance > 1.0] **= 0.5
    return np.mean(distance)
