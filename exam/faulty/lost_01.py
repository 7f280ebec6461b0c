# expect: GT312
# cause: np.array of a list of tensors would drop their gradients
# wrong: raises DetachError
# cure: np.array([np.cos(angle), np.sin(angle)]) -> np.stack([np.cos(angle), np.sin(angle)])
import numpy as np

import gradtape as gt

target = np.array([0.0, 1.0])


def distance(angle):
    direction = np.array([np.cos(angle), np.sin(angle)])  # <- here
    return np.sum((direction - target) ** 2)


angles = np.array([0.3, 0.4])
g = gt.grad(lambda a: distance(a[0]))(angles)
