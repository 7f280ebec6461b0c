"""A mask of minus infinity before a softmax: infinite numbers that are meant."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(8)
scores = gt.Variable(rng.normal(size=(5, 5)))
mask = np.where(np.tril(np.ones((5, 5))) > 0, 0.0, -np.inf)
with gt.GradientTape() as tape:
    p = gt.softmax(scores + mask, axis=-1)
    loss = np.sum(p * np.arange(5.0))
g = tape.gradient(loss, scores).numpy()
assert np.isfinite(g).all()
assert not np.triu(g, 1).any()
