# expect: GT312
# says: forces = gt.zeros((3, 2))
# cause: forces are collected with -= in an array of NumPy
# wrong: raises DetachError
# cure: forces = np.zeros((3, 2)) -> forces = gt.zeros((3, 2))
import numpy as np

import gradtape as gt


def total(k):
    forces = np.zeros((3, 2))
    rest = np.ones(2)
    for i in range(2):
        pull = k * (i + 1.0) * rest
        forces[i] += pull  # <- here
        forces[i + 1] -= pull
    return np.sum(forces**2)


g = gt.grad(total)(0.5)
