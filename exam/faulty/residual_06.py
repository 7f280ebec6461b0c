# expect: GT102
# cause: the examples are averaged before the weights: one prediction (1, 1) for 25 targets
# wrong: pred.shape == (1, 1)
# cure: X.mean(axis=0, keepdims=True) @ W -> X @ W
import numpy as np

import gradtape as gt

rng = np.random.default_rng(5)
X, y = rng.normal(size=(25, 3)), rng.normal(size=(25, 1))
W = gt.Variable(rng.normal(size=(3, 1)))
with gt.GradientTape() as tape:
    pred = X.mean(axis=0, keepdims=True) @ W  # <- here
    loss = np.mean((pred - y) ** 2)  # <- here
gradient = tape.gradient(loss, W)
