# expect: GT402
# cause: the standard deviation by hand of a constant feature is sqrt(0)
# wrong: np.isnan(g.numpy()).any()
# cure: np.sqrt(variance) -> np.sqrt(variance + 1e-5)
import numpy as np

import gradtape as gt

x = np.array([[1.0, 2.0], [1.0, -1.0], [1.0, 0.5]])
gamma = gt.Variable([1.0, 1.0])
with gt.GradientTape() as tape:
    h = x * gamma
    variance = ((h - h.mean(axis=0)) ** 2).mean(axis=0)
    spread = np.sqrt(variance)  # <- here
    loss = np.sum(spread)
g = tape.gradient(loss, gamma)
