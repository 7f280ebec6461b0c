"""Inverse kinematics of an arm with three joints: cumulated angles, sines and cosines."""

import numpy as np

import gradtape as gt

lengths, goal = np.array([1.0, 0.8, 0.5]), np.array([1.2, 0.9])


def miss(angles):
    total = np.cumsum(angles)
    tip = np.stack([np.sum(lengths * np.cos(total)), np.sum(lengths * np.sin(total))])
    return np.sum((tip - goal) ** 2)


angles = np.array([0.1, 0.2, 0.3])
for _ in range(100):
    angles = angles - 0.1 * gt.grad(miss)(angles)
assert miss(angles) < 1e-3
