"""Dropout: masks with zeros, another one at every step."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(3)
X, y = rng.normal(size=(30, 6)), rng.normal(size=30)
w = gt.Variable(np.zeros(6))
history = []
for _ in range(100):
    mask = (rng.uniform(size=X.shape) < 0.8) / 0.8
    with gt.GradientTape() as tape:
        loss = np.mean(((X * mask) @ w - y) ** 2)
    w.assign_sub(0.05 * tape.gradient(loss, w))
    history.append(loss.item())
assert np.mean(history[-20:]) < np.mean(history[:20])
