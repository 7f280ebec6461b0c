"""A relu network in which some units are dead and others are not."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
x = np.linspace(-1, 1, 40)[:, None]
y = np.abs(x)
W1 = gt.tensor(np.array([[1.0, -1.0, 0.5]]), requires_grad=True)
b1 = gt.tensor(np.array([0.0, 0.1, -5.0]), requires_grad=True)
W2 = gt.tensor(np.full((3, 1), 0.3), requires_grad=True)
for _ in range(100):
    loss = ((gt.relu(x @ W1 + b1) @ W2 - y) ** 2).mean()
    loss.backward()
    with gt.no_grad():
        for p in (W1, b1, W2):
            p -= 0.2 * p.grad
    for p in (W1, b1, W2):
        p.zero_grad()
assert loss.item() < 0.01
