"""A policy over actions in columns: log_softmax along axis 0, and one action picked from each column."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(9)
states, actions = rng.normal(size=(3, 14)), rng.integers(0, 4, size=14)
advantages = rng.normal(size=14)
theta = gt.tensor(rng.normal(size=(4, 3)), requires_grad=True)
log_pi = gt.log_softmax(theta @ states, axis=0)
loss = -(advantages * log_pi[actions, np.arange(14)]).mean()
loss.backward()
assert theta.grad.shape == (4, 3)
