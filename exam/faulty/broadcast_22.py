# expect: GT101
# cause: reading one column with a list keeps the axis, and the vector of lags meets it
# wrong: product.shape == (50, 50)
# cure: series[:, [0]] -> series[:, 0]
import numpy as np

import gradtape as gt

series = np.random.default_rng(11).normal(size=(50, 2))
phase = np.linspace(0.0, 1.0, 50)


def score(omega):
    global product
    wave = np.sin(omega * phase)
    product = series[:, [0]] * wave  # <- here
    return np.sum(product) ** 2


g = gt.grad(score)(2.0)
