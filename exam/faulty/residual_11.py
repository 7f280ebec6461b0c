# expect: GT101
# cause: under jit as without: a column of predictions against a vector
# wrong: value > 1.5 * np.mean((X @ w0)[:, 0] ** 2 + y**2)
# cure: X @ w - y -> (X @ w)[:, 0] - y
import numpy as np

import gradtape as gt

rng = np.random.default_rng(8)
X = rng.normal(size=(24, 2))
w0 = np.array([[2.0], [-1.0]])
y = (X @ w0)[:, 0] + 0.0


@gt.jit
def loss(w):
    return np.sum((X @ w - y) ** 2) / 24  # <- here


value, g = gt.value_and_grad(loss)(w0)
