"""float32 all the way, with Python numbers and a float32 tape."""

import numpy as np

import gradtape as gt

x = np.linspace(0, 1, 32, dtype=np.float32)
w = gt.Variable(np.array([0.5, 0.1], dtype=np.float32))
for _ in range(20):
    with gt.GradientTape() as tape:
        loss = np.mean((w[0] * x + w[1] - (2.0 * x + 1.0).astype(np.float32)) ** 2)
    g = tape.gradient(loss, w)
    w.assign_sub(0.3 * g)
assert g.dtype == np.float32
assert loss.item() < 0.2
