# expect: GT402
# cause: the distance of a point to itself is sqrt(0), whose slope is infinite
# wrong: np.isnan(g.numpy()).any()
# cure: np.sqrt(squared) -> np.sqrt(squared + 1e-12)
import numpy as np

import gradtape as gt

points = gt.Variable(np.random.default_rng(0).normal(size=(4, 2)))
with gt.GradientTape() as tape:
    difference = points[:, None, :] - points[None, :, :]
    squared = (difference**2).sum(axis=-1)
    distance = np.sqrt(squared)  # <- here
    loss = distance.mean()
g = tape.gradient(loss, points)
