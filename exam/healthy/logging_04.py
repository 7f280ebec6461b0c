"""Gradient norms are logged and clipped by a Python number."""

import numpy as np

import gradtape as gt

w = gt.Variable(np.array([10.0, -10.0]))
norms = []
for _ in range(30):
    with gt.GradientTape() as tape:
        loss = np.sum(w**4)
    g = tape.gradient(loss, w)
    norm = float(np.linalg.norm(g))
    norms.append(norm)
    w.assign_sub(0.5 * g * min(1.0, 1.0 / norm))
assert norms[-1] < 0.5 * norms[0]
