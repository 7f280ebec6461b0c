"""Integers where they belong: counts, indices, powers and masks among tracked floats."""

import numpy as np

import gradtape as gt

counts = np.array([3, 0, 5])
p = gt.Variable([0.2, 0.3, 0.5])
order = np.argsort(p.numpy())[::-1]
with gt.GradientTape() as tape:
    log_p = np.log(p)
    loss = -np.sum(counts * log_p) + np.sum(p[order][:2] ** 2) + 0 * np.sum(p)
g = tape.gradient(loss, p)
assert np.allclose(g.numpy(), -counts / p.numpy() + 2 * p.numpy() * np.array([0, 1, 1]))
