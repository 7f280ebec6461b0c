# expect: GT401
# says: arccos
# cause: a cosine that rounding puts above 1, so that arccos is NaN
# wrong: np.isnan(g).any()
# cure: np.arccos(c) -> np.arccos(c / (1.0 + 1e-6))
import numpy as np

import gradtape as gt

a = np.array([[0.1, 0.2, 0.3], [1.0, 0.0, 0.0]])


def angle(scale):
    b = a * scale
    c = np.sum(a * b, axis=1) / np.sum(a * a, axis=1)
    theta = np.arccos(c)  # <- here
    return np.sum(theta)


g = gt.grad(angle)(1.0 + 1e-9)
