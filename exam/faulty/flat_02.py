# expect: GT201 because GT209
# cause: the weights are rounded to a grid, and round is flat
# wrong: not np.any(g)
# cure: np.round(w * 8) / 8 -> w
import numpy as np

import gradtape as gt

x = np.linspace(-1, 1, 40)
y = 0.37 * x


def quantised_loss(w):
    q = np.round(w * 8) / 8  # <- here
    return np.mean((q[0] * x - y) ** 2)


g = gt.grad(quantised_loss)(np.array([0.9]))  # <- asked
