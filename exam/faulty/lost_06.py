# expect: GT312
# cause: a matrix is put together from tensors by np.array
# wrong: raises DetachError
# cure: np.array([[c -> gt.array([[c
import numpy as np

import gradtape as gt


def turned(angle):
    c, s = np.cos(angle), np.sin(angle)
    rotation = np.array([[c, -s], [s, c]])  # <- here
    return (rotation @ np.array([1.0, 2.0]))[0]


gradient = gt.grad(turned)(0.3)
