"""An autoencoder with tied weights."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(7)
data = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 8))
W = gt.tensor(rng.normal(size=(8, 2)) * 0.1, requires_grad=True)
losses = []
for _ in range(150):
    code = data @ W
    loss = ((code @ W.T - data) ** 2).mean()
    loss.backward()
    with gt.no_grad():
        W -= 0.05 * W.grad
    W.zero_grad()
    losses.append(float(loss))
assert losses[-1] < 0.3 * losses[0]
