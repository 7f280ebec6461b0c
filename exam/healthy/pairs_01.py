"""Tables of pairs that are meant: of plain arrays, of two samples, and of one sample's norms."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
x, real, noise = rng.normal(size=12), rng.normal(size=(12, 1)), rng.normal(size=(12, 2))
starts, X = rng.normal(size=12), rng.normal(size=(12, 3))
squares = np.sum(X**2, axis=1, keepdims=True)
distances = squares + np.sum(X**2, axis=1) - 2 * X @ X.T
columns = x[:, None]
gaps = columns - starts
W, v = gt.Variable(rng.normal(size=(2, 1))), gt.Variable(rng.normal(size=3))
scale = gt.Variable(np.zeros((1, 1)))
with gt.GradientTape() as tape:
    made = noise @ W
    energy = 2 * np.mean(np.abs(made - real.T)) - np.mean(np.abs(made - made.T))
    weights = X @ v
    spread = np.mean(weights * distances) + np.sum((weights - gaps) ** 2)
    level = np.exp(scale) / len(X)
    loss = energy + spread + np.mean((real - level) ** 2)
gradients = tape.gradient(loss, [W, v, scale])
assert all(np.isfinite(gradient.numpy()).all() for gradient in gradients)
assert distances.shape == gaps.shape == (12, 12)
