# expect: GT404
# says: relu
# cause: a large layer whose bias keeps every unit below zero
# wrong: not np.any(g[0])
# cure: np.full(200, -80.0) -> np.zeros(200)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(4)
X, y = rng.normal(size=(300, 5)), rng.normal(size=300)
v = rng.normal(size=200)


def loss(params):
    W, b = params
    hidden = gt.relu(X @ W + b)  # <- here
    return np.mean((hidden @ v - y) ** 2)


g = gt.grad(loss)((rng.normal(size=(5, 200)), np.full(200, -80.0)))  # <- asked
