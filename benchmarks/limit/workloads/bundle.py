"""Bundle adjustment, as in ADBench: cameras and points from where the points are seen in the pictures.

The sum of squares of the errors of all observations, of a picture's coordinates and of weights near one.
"""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1, 2)
ROWS = {"bundle": (49, 7776, 31843)}
SMALL = (3, 7, 29)


def initialise(size):
    cameras, points, observations = size
    rng = default_rng(31337)
    centre = numpy.array([0.1] * 3 + [0.0] * 3 + [1.0] + [0.0] * 4)
    return [
        0.05 * rng.standard_normal((cameras, 11)) + centre,
        rng.standard_normal((points, 3)) + numpy.array([0.0, 0.0, 6.0]),
        rng.uniform(0.5, 1.0, observations),
        rng.integers(0, cameras, observations),
        rng.integers(0, points, observations),
        0.3 * rng.standard_normal((observations, 2)),
    ]


def errors(xp, camera, point, weight, seen):
    """Rotate by the formula of Rodrigues, project, distort, and compare with what was seen."""
    away = point - camera[:, 3:6]
    rotation = camera[:, 0:3]
    angle = xp.sqrt(xp.sum(rotation * rotation, 1))
    axis = rotation / angle[:, None]
    cosine, sine = xp.cos(angle), xp.sin(angle)
    a0, a1, a2 = axis[:, 0], axis[:, 1], axis[:, 2]
    x0, x1, x2 = away[:, 0], away[:, 1], away[:, 2]
    along = (a0 * x0 + a1 * x1 + a2 * x2) * (1.0 - cosine)
    r0 = x0 * cosine + (a1 * x2 - a2 * x1) * sine + a0 * along
    r1 = x1 * cosine + (a2 * x0 - a0 * x2) * sine + a1 * along
    r2 = x2 * cosine + (a0 * x1 - a1 * x0) * sine + a2 * along
    u, v = r0 / r2, r1 / r2
    square = u * u + v * v
    bent = 1.0 + camera[:, 9] * square + camera[:, 10] * square * square
    eu = weight * (u * bent * camera[:, 6] + camera[:, 7] - seen[:, 0])
    ev = weight * (v * bent * camera[:, 6] + camera[:, 8] - seen[:, 1])
    return eu, ev, 1.0 - weight * weight


def program(cameras, points, weights, camera_of, point_of, seen):
    eu, ev, ew = errors(np, cameras[camera_of], points[point_of], weights, seen)
    return np.sum(eu * eu) + np.sum(ev * ev) + np.sum(ew * ew)


def program_torch(torch, cameras, points, weights, camera_of, point_of, seen):
    eu, ev, ew = errors(torch, cameras[camera_of], points[point_of], weights, seen)
    return torch.sum(eu * eu) + torch.sum(ev * ev) + torch.sum(ew * ew)
