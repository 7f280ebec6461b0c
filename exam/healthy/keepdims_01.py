"""Square arrays that are centred and scaled along the axis that is meant, and a recurrence over one."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
theta = gt.Variable(rng.normal(size=(5, 5)))
emitted = np.log(rng.uniform(0.1, 1.0, size=(6, 5)))
with gt.GradientTape() as tape:
    A = theta - gt.logsumexp(theta, axis=1, keepdims=True)
    columns = np.exp(theta) / np.exp(theta).sum(axis=0)
    beta = np.zeros(5)
    for row in emitted[::-1]:
        beta = gt.logsumexp(A + row + beta, axis=1)
    K = np.exp(-((theta - theta.T) ** 2))
    degree = K.sum(axis=1)
    scaled = K / np.sqrt(degree) / np.sqrt(degree)[:, None]
    loss = -gt.logsumexp(beta) + np.sum(columns**2) + np.sum(scaled**2)
gradient = tape.gradient(loss, theta)
assert np.allclose(np.exp(A.numpy()).sum(axis=1), 1.0)
assert np.allclose(columns.numpy().sum(axis=0), 1.0)
assert gradient.shape == (5, 5)
