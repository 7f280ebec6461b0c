# expect: GT101
# cause: pred is a column (200, 1) and y a vector (200,), so every prediction is compared with every target
# wrong: error.shape == (200, 200)
# cure: pred - y -> pred[:, 0] - y
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
y = X @ np.array([1.0, -2.0, 0.5]) + 0.1 * rng.normal(size=200)

W = gt.Variable(np.zeros((3, 1)))
for _ in range(5):
    with gt.GradientTape() as tape:
        pred = X @ W
        error = pred - y  # <- here
        loss = (error**2).mean()
    W.assign_sub(0.1 * tape.gradient(loss, W))
print("final loss", float(loss))
