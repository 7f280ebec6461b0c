# expect: GT102
# cause: one prediction column (60, 1) is compared with three target columns (60, 3)
# wrong: pred.shape == (60, 1)
# cure: np.zeros((4, 1)) -> np.zeros((4, 3))
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
Y = X @ rng.normal(size=(4, 3))

W = gt.Variable(np.zeros((4, 1)))
for _ in range(3):
    with gt.GradientTape() as tape:
        pred = X @ W
        loss = np.mean((pred - Y) ** 2)  # <- here
    W.assign_sub(0.05 * tape.gradient(loss, W))
