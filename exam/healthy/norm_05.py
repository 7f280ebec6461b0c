"""Standardised columns, one of them constant: NumPy's std has a slope of zero there, and eps is added."""

import numpy as np

import gradtape as gt

x = np.array([[1.0, 2.0], [1.0, -1.0], [1.0, 0.5]])
gamma = gt.Variable([1.0, 2.0])
with gt.GradientTape() as tape:
    h = x * gamma
    z = (h - h.mean(axis=0)) / (h.std(axis=0) + 1e-8)
    loss = np.sum(z**3)
assert np.isfinite(tape.gradient(loss, gamma).numpy()).all()
