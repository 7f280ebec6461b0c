# expect: GT101
# cause: the weights of the examples are a vector, the errors a column: all pairs are multiplied
# wrong: weighted.shape == (25, 25)
# cure: weight * error -> weight[:, None] * error
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X, y = rng.normal(size=(25, 3)), rng.normal(size=(25, 1))
weight = rng.uniform(size=25)
w = gt.Variable(rng.normal(size=(3, 1)))
with gt.GradientTape() as tape:
    error = (X @ w - y) ** 2
    weighted = weight * error  # <- here
    loss = np.sum(weighted)
g = tape.gradient(loss, w)
