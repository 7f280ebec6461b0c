"""A gate of one column over the features of each example."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(6)
X, Y = rng.normal(size=(20, 5)), rng.normal(size=(20, 5))
gate_w = gt.tensor(np.zeros((5, 1)), requires_grad=True)
out_w = gt.tensor(np.eye(5), requires_grad=True)
gate = gt.sigmoid(X @ gate_w)
loss = ((gate * (X @ out_w) + (1 - gate) * X - Y) ** 2).mean()
loss.backward()
assert gate.shape == (20, 1)
assert gate_w.grad.shape == (5, 1)
