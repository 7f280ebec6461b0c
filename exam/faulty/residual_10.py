# expect: GT101
# cause: the log-likelihood of each example has an axis left over from keepdims in the features
# wrong: gap.shape == (32, 32)
# cure: rate = np.exp(eta) -> rate = np.exp(eta)[:, 0]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(6)
X = rng.normal(size=(32, 3))
counts = rng.poisson(2.0, size=32).astype(float)
beta = gt.Variable(np.zeros((3, 1)))
with gt.GradientTape() as tape:
    eta = X @ beta
    rate = np.exp(eta)
    gap = counts - rate  # <- here
    loss = np.mean(gap**2 / 2.0)
g = tape.gradient(loss, beta)
