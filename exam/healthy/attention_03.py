"""Attention pooling over time: the softmax runs over the axis that is summed."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(2)
sequence = rng.normal(size=(7, 10, 4))
query = gt.tensor(rng.normal(size=4), requires_grad=True)
weights = gt.softmax(sequence @ query, axis=1)
pooled = (weights[:, :, None] * sequence).sum(axis=1)
loss = (pooled**2).mean()
loss.backward()
assert np.allclose(weights.numpy().sum(axis=1), 1.0)
assert query.grad.shape == (4,)
