"""A codebook that is looked up by the nearest entry, with the gradient passed straight through."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
codes, w = gt.Variable(rng.normal(size=(6, 2))), gt.Variable(rng.normal(size=(3, 2)))
x = rng.normal(size=(10, 3))
with gt.GradientTape() as tape:
    z = x @ w
    distances = np.sum((z[:, None] - codes[None]) ** 2, axis=-1)
    found = codes[np.argmin(distances, axis=1)]
    passed = z + gt.stop_gradient(found - z)
    commitment = np.mean((z - gt.stop_gradient(found)) ** 2)
    loss = np.mean(passed**2) + np.mean((gt.stop_gradient(z) - found) ** 2) + 0.25 * commitment
gradients = tape.gradient(loss, [codes, w])
assert all(np.any(g) for g in gradients)
