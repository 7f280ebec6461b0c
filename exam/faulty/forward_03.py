# expect: GT401
# cause: a row of zeros is divided by its own length: 0 / 0
# wrong: np.isnan(g).any()
# cure: rows / length -> rows / (length + 1e-12)
import numpy as np

import gradtape as gt

points = np.array([[3.0, 4.0], [0.0, 0.0], [1.0, 0.0]])


def alignment(scale):
    rows = points * scale
    length = np.abs(rows).sum(axis=1, keepdims=True)
    unit = rows / length  # <- here
    return np.sum(unit[:, 0])


g = gt.grad(alignment)(np.array([1.0, 2.0]))
