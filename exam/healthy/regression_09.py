"""Ordinal regression: one score for each example against fixed thresholds."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(7)
X = rng.normal(size=(20, 2))
thresholds = np.array([-1.0, 0.0, 1.0])
level = np.digitize(X[:, 0], thresholds)
above = (level[:, None] > np.arange(3)).astype(float)
W = gt.Variable(np.zeros((2, 1)))

first = None
for _ in range(40):
    with gt.GradientTape() as tape:
        margins = X @ W - thresholds
        loss = np.mean(np.logaddexp(0.0, margins) - above * margins)
    W.assign_sub(1.0 * tape.gradient(loss, W))
    first = first or float(loss)
assert float(loss) < first
