"""Rounding for a table and argmax for an accuracy, beside a loss that is differentiable."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(10)
X, labels = rng.normal(size=(20, 3)), rng.integers(0, 2, size=20)
W = gt.Variable(np.zeros((3, 2)))
accuracies = []
for _ in range(10):
    with gt.GradientTape() as tape:
        logits = X @ W
        accuracies.append(round(float(np.mean(np.argmax(logits.numpy(), axis=1) == labels)), 2))
        loss = -np.mean(gt.log_softmax(logits)[np.arange(20), labels])
    W.assign_sub(0.5 * tape.gradient(loss, W))
assert accuracies[-1] >= accuracies[0]
