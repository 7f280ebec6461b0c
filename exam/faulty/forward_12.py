# expect: GT401
# cause: a negative base to a fractional power
# wrong: np.isnan(g.numpy()).any()
# cure: drift**1.5 -> np.abs(drift) ** 1.5
import numpy as np

import gradtape as gt

x = gt.Variable(np.array([0.5, 2.0, 3.0]))
with gt.GradientTape() as tape:
    drift = x - 1.0
    cost = drift**1.5  # <- here
    loss = cost.mean()
g = tape.gradient(loss, x)
