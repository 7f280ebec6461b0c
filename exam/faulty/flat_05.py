# expect: GT201 because GT209
# cause: the ranks come from argsort, whose positions have no derivative
# wrong: g is None
# cure: np.argsort(scores) * 1.0 -> np.sort(scores)
import numpy as np

import gradtape as gt

features = np.random.default_rng(4).normal(size=(9, 3))
w = gt.Variable([0.3, -0.2, 0.9])
with gt.GradientTape() as tape:
    scores = features @ w
    ranks = np.argsort(scores) * 1.0  # <- here
    spearman_loss = np.mean((ranks - np.arange(9)) ** 2)
g = tape.gradient(spearman_loss, w)  # <- asked
