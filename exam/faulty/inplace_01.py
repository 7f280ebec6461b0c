# expect: GT309
# cause: the input buffer is overwritten inside the tape, after the product has saved it
# wrong: raises ValueError
# cure: batch @ w -> batch.copy() @ w
import numpy as np

import gradtape as gt

data = np.random.default_rng(0).normal(size=(2, 6, 3))
batch = np.empty((6, 3))
w = gt.Variable(np.ones(3))
total = 0.0
with gt.GradientTape() as tape:
    for chunk in data:
        batch[:] = chunk  # <- here
        total = total + np.sum((batch @ w) ** 2)
g = tape.gradient(total, w)
