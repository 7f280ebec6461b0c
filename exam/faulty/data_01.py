# expect: GT401
# cause: a missing value in the data
# wrong: np.isnan(gradient).all()
# cure: table[17, 2] = np.nan -> table[17, 2] = 0.0
import numpy as np

import gradtape as gt

table = np.random.default_rng(0).normal(size=(50, 3))
table[17, 2] = np.nan


def loss(w):
    z = table @ w  # <- here
    return np.mean(np.log1p(np.exp(-z)))


gradient = gt.grad(loss)(np.zeros(3))
