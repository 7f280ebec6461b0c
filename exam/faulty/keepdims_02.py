# expect: GT103
# cause: the means of the rows are subtracted from the columns: as many examples as features
# wrong: not np.allclose(centred.numpy().mean(axis=1), 0.0)
# cure: h.mean(axis=1) -> h.mean(axis=1, keepdims=True)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
X, y = rng.normal(size=(8, 5)), rng.normal(size=8)
W, v = gt.Variable(rng.normal(size=(5, 8))), gt.Variable(rng.normal(size=8))
with gt.GradientTape() as tape:
    h = X @ W
    middle = h.mean(axis=1)  # <- here
    centred = h - middle  # <- here
    loss = np.mean((np.tanh(centred) @ v - y) ** 2)
gradients = tape.gradient(loss, [W, v])
