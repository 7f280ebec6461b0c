"""A small network on XOR, with accuracy by argmax in the training loop."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
y = np.array([0, 1, 1, 0])
params = [gt.Variable(rng.normal(size=s)) for s in [(2, 8), (8,), (8, 2), (2,)]]


def logits():
    W1, b1, W2, b2 = params
    return np.tanh(X @ W1 + b1) @ W2 + b2


for _ in range(120):
    with gt.GradientTape() as tape:
        out = logits()
        loss = -gt.log_softmax(out)[np.arange(4), y].mean()
        accuracy = np.mean(np.argmax(out, axis=1) == y)
    for p, g in zip(params, tape.gradient(loss, params), strict=True):
        p.assign_sub(0.5 * g)
assert float(accuracy) == 1.0
