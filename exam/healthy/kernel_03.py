"""Automatic relevance determination: pairwise differences in three dimensions."""

import numpy as np

import gradtape as gt

X = np.random.default_rng(2).normal(size=(9, 3))
log_scales = gt.Variable(np.zeros(3))
with gt.GradientTape() as tape:
    Z = X / np.exp(log_scales)
    squared = np.sum((Z[:, None, :] - Z[None, :, :]) ** 2, axis=-1)
    loss = np.sum(np.exp(-0.5 * squared))
g = tape.gradient(loss, log_scales)
assert np.all(g.numpy() > 0.0)
