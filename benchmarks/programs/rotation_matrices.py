"""A chain of joints: rotation matrices from `np.array`, multiplied together; where the hand is.

Robots, molecules, cameras.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1)
SMALL = (3,)
PAPER = (60,)


def initialise(size):
    (n,) = size
    rng = default_rng(43)
    return rng.random((n, 3)), rng.random(n)


def rotation(roll, pitch, yaw):
    c, s = np.cos(roll), np.sin(roll)
    X = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    c, s = np.cos(pitch), np.sin(pitch)
    Y = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    c, s = np.cos(yaw), np.sin(yaw)
    Z = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return Z @ Y @ X


def program(angles, lengths):
    T = np.eye(4)
    positions = np.zeros((angles.shape[0], 3))
    for i in range(angles.shape[0]):
        link = np.eye(4)
        link[:3, :3] = rotation(angles[i, 0], angles[i, 1], angles[i, 2])
        link[:3, 3] = link[:3, :3] @ np.array([lengths[i], 0.0, 0.0])
        T = T @ link
        positions[i] = T[:3, 3]
    return np.sum((positions - np.array([1.0, 2.0, 0.5])) ** 2)
