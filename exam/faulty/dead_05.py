# expect: GT404
# cause: the inputs were not scaled: tanh of some hundreds is 1 to the last bit, and its slope 0
# wrong: not np.any(g.numpy())
# cure: pixels @ w -> (pixels / 255.0) @ w
import numpy as np

import gradtape as gt

pixels = np.random.default_rng(2).integers(100, 255, size=(6, 16)).astype(float)
w = gt.Variable(np.full((16, 2), 0.5))
with gt.GradientTape() as tape:
    h = np.tanh(pixels @ w)  # <- here
    loss = np.mean((h - 0.2) ** 2)
g = tape.gradient(loss, w)  # <- asked
