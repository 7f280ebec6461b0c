"""All pairs of a ranking loss: scores[:, None] - scores, as many of one as of the other."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(4)
X = rng.normal(size=(10, 3))
relevance = X[:, 0]
better = (relevance[:, None] > relevance).astype(float)
w = gt.Variable(np.zeros(3))
values = []
for _ in range(20):
    with gt.GradientTape() as tape:
        scores = X @ w
        loss = np.sum(better * gt.softplus(-(scores[:, None] - scores))) / better.sum()
    w.assign_sub(1.0 * tape.gradient(loss, w))
    values.append(float(loss))
assert values[-1] < 0.5 * values[0]
