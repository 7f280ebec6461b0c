"""The maximum leaves by float() to scale a plot, the same number is not used again."""

import numpy as np

import gradtape as gt

x = gt.Variable(np.linspace(0.1, 1.0, 10))
with gt.GradientTape() as tape:
    y = np.sin(3 * x)
    limits = (0.0, 1.1 * float(np.max(y)))
    loss = np.sum(y**2)
g = tape.gradient(loss, x)
assert limits[1] > 1.0
assert np.allclose(g.numpy(), 3 * np.sin(6 * x.numpy()))
