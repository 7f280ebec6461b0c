"""Topics: each column is a distribution over words, and the product sums over the topics."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(21)
counts = rng.poisson(3.0, size=(12, 6)).astype(float)
words, shares = gt.Variable(rng.normal(size=(12, 3))), gt.Variable(rng.normal(size=(3, 6)))
values = []
for _ in range(30):
    with gt.GradientTape() as tape:
        p = gt.softmax(words, axis=0) @ gt.softmax(shares, axis=0)
        loss = -np.sum(counts * np.log(p)) / counts.sum()
    for v, g in zip((words, shares), tape.gradient(loss, [words, shares]), strict=True):
        v.assign_sub(2.0 * g)
    values.append(float(loss))
assert np.allclose(p.numpy().sum(axis=0), 1.0)
assert values[-1] < values[0]
