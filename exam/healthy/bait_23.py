"""Forbidden moves are minus infinity before the softmax; nothing infinite reaches the gradient."""

import numpy as np

import gradtape as gt

allowed = np.tril(np.ones((5, 5), dtype=bool))
scores = gt.Variable(np.random.default_rng(23).normal(size=(5, 5)))
with gt.GradientTape() as tape:
    masked = np.where(allowed, scores, -np.inf)
    weights = gt.softmax(masked, axis=1)
    total = gt.logsumexp(masked, axis=1)
    loss = np.sum(weights @ np.arange(5.0)) + np.sum(total)
g = tape.gradient(loss, scores)
assert np.isfinite(g.numpy()).all()
assert np.all(g.numpy()[~allowed] == 0.0)
