# expect: GT103
# cause: the row sums have no axis for the columns, and the transition matrix is square: the columns are divided by them
# wrong: not np.allclose(P.numpy().sum(axis=1), 1.0)
# cure: weights.sum(axis=1) -> weights.sum(axis=1, keepdims=True)
import numpy as np

import gradtape as gt

theta = gt.Variable(np.random.default_rng(0).normal(size=(4, 4)))
start, wanted = np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.1, 0.2, 0.3, 0.4])
for _ in range(10):
    with gt.GradientTape() as tape:
        weights = np.exp(theta)
        P = weights / weights.sum(axis=1)  # <- here
        loss = np.sum((start @ P @ P - wanted) ** 2)
    theta.assign_sub(0.5 * tape.gradient(loss, theta))
print(loss)
