import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
y = X @ np.array([1.0, -2.0, 0.5])

W = gt.Variable(np.zeros((3, 1)))
for _ in range(3):
    with gt.GradientTape() as tape:
        pred = X @ W
        loss = np.mean((pred - y) ** 2)
    W.assign_sub(0.1 * tape.gradient(loss, W))
