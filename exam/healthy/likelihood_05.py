"""Heteroscedastic regression: mean and log variance from one network with two outputs."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(4)
x = rng.uniform(-1, 1, size=(64, 1))
y = x + 0.1 * np.abs(x) * rng.normal(size=(64, 1))
W1 = gt.tensor(rng.normal(size=(1, 8)), requires_grad=True)
W2 = gt.tensor(rng.normal(size=(8, 2)) * 0.1, requires_grad=True)

losses = []
for _ in range(80):
    out = np.tanh(x @ W1) @ W2
    mean, log_var = out[:, :1], out[:, 1:]
    loss = (0.5 * (y - mean) ** 2 * np.exp(-log_var) + 0.5 * log_var).mean()
    loss.backward()
    with gt.no_grad():
        for p in (W1, W2):
            p -= 0.05 * p.grad
            p.zero_grad()
    losses.append(loss.item())
assert losses[-1] < losses[0] - 0.1
