"""A gradient penalty: the gradient of a gradient, through a graph that create_graph keeps."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(2)
w1 = gt.tensor(rng.normal(size=(2, 6)), requires_grad=True)
w2 = gt.tensor(rng.normal(size=(6, 1)), requires_grad=True)
x = gt.tensor(rng.normal(size=(10, 2)), requires_grad=True)
score = (np.tanh(x @ w1) @ w2).sum()
(slope,) = gt.gradients([score], [x], create_graph=True)
penalty = ((np.sqrt((slope**2).sum(axis=1) + 1e-12) - 1.0) ** 2).mean()
penalty.backward(inputs=[w1, w2])
assert w1.grad.shape == (2, 6)
assert np.any(w2.grad.numpy() != 0)
