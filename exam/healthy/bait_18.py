"""A batch of one: (1, d) inputs, (1, 1) outputs, a target of shape (1, 1)."""

import numpy as np

import gradtape as gt

W = gt.tensor(np.full((3, 1), 0.1), requires_grad=True)
x, y = np.array([[1.0, 2.0, 3.0]]), np.array([[2.0]])
for _ in range(30):
    loss = ((x @ W - y) ** 2).mean()
    loss.backward()
    with gt.no_grad():
        W -= 0.02 * W.grad
    W.zero_grad()
assert loss.item() < 1e-3
