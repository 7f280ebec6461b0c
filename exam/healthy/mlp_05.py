"""Mini-batches, the last one smaller, with gradients accumulated over two of them."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(4)
X = rng.normal(size=(50, 3))
Y = np.sin(X.sum(axis=1, keepdims=True))
W1 = gt.tensor(rng.normal(size=(3, 12)) * 0.5, requires_grad=True)
W2 = gt.tensor(rng.normal(size=(12, 1)) * 0.5, requires_grad=True)


def loss_of(xb, yb):
    return ((gt.sigmoid(xb @ W1) @ W2 - yb) ** 2).mean()


before = loss_of(X, Y).item()
for _ in range(20):
    order = rng.permutation(50)
    for number, start in enumerate(range(0, 50, 16)):
        rows = order[start : start + 16]
        (loss_of(X[rows], Y[rows]) / 2).backward()
        if number % 2 == 1:
            with gt.no_grad():
                for p in (W1, W2):
                    p -= 0.2 * p.grad
                    p.zero_grad()
assert loss_of(X, Y).item() < before
