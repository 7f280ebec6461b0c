"""A hinge loss until every margin is met: then loss and gradient are exactly zero."""

import numpy as np

import gradtape as gt

X = np.array([[2.0, 1.0], [1.5, 2.0], [-1.0, -2.0], [-2.0, -0.5]])
y = np.array([1.0, 1.0, -1.0, -1.0])
w = gt.Variable([0.0, 0.0])
for _ in range(100):
    with gt.GradientTape() as tape:
        loss = np.sum(np.maximum(0.0, 1.0 - y * (X @ w)))
    w.assign_sub(0.1 * tape.gradient(loss, w))
    if float(loss) == 0.0:
        break
assert float(loss) == 0.0
