# expect: GT101
# cause: the targets are a row (1, 15), the predictions a column (15, 1)
# wrong: misfit.shape == (15, 15)
# cure: targets - model(W, X) -> targets.T - model(W, X)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(4)
X = rng.normal(size=(15, 3))
targets = np.atleast_2d(X[:, 0] - X[:, 1])


def model(W, X):
    return np.tanh(X @ W) @ np.ones((2, 1))


def loss(W, X, targets):
    global misfit
    misfit = targets - model(W, X)  # <- here
    return np.sum(misfit**2)


gradient = gt.grad(loss)(rng.normal(size=(3, 2)), X, targets)
