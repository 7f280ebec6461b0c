"""Rows of log-probabilities, drawn anew: the index is of rows, and meant."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X, y = rng.normal(size=(30, 4)), rng.integers(0, 3, 30)
W = gt.Variable(rng.normal(size=(4, 3)))
resampled = rng.integers(0, 30, 30)
with gt.GradientTape() as tape:
    logp = gt.log_softmax(X @ W, axis=1)
    smooth = -0.1 * logp[resampled].mean()
    loss = -logp[np.arange(30), y].mean() + smooth
assert tape.gradient(loss, W).shape == (4, 3)
