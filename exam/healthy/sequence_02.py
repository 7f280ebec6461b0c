"""Truncated backpropagation: the state is detached between the chunks."""

import numpy as np

import gradtape as gt

W = gt.tensor(np.eye(3) * 0.5, requires_grad=True)
state = gt.tensor(np.zeros(3))
for chunk in np.random.default_rng(1).normal(size=(4, 5, 3)):
    state = state.detach()
    for x in chunk:
        state = gt.tanh(state @ W + x)
    loss = (state**2).sum()
    loss.backward()
    with gt.no_grad():
        W -= 0.01 * W.grad
    W.zero_grad()
assert np.isfinite(loss.item())
