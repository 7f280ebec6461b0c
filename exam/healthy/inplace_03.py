"""Accumulating with += on a computed tensor."""

import numpy as np

import gradtape as gt

x = gt.Variable(np.arange(1.0, 4.0))
with gt.GradientTape() as tape:
    total = np.zeros(3) * x
    for k in range(1, 4):
        total += x**k
    loss = np.sum(total)
g = tape.gradient(loss, x).numpy()
v = np.arange(1.0, 4.0)
assert np.allclose(g, 1 + 2 * v + 3 * v**2)
