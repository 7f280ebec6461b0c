# expect: GT113
# cause: one head returns (5, 4), the others (5, 3): they cannot be stacked
# wrong: raises ShapeError
# cure: [3, 3, 4] -> [3, 3, 3]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(2)
x = rng.normal(size=(5, 6))
heads = [gt.Variable(rng.normal(size=(6, n))) for n in [3, 3, 4]]

with gt.GradientTape() as tape:
    together = gt.stack([gt.tanh(x @ w) for w in heads], axis=1)  # <- here
    loss = together.sum()
tape.gradient(loss, heads)
