# expect: GT501
# cause: probabilities over the examples, kept away from zero before the logarithm
# wrong: not np.allclose(shares, 1.0)
# cure: gt.softmax(X @ W, axis=0) -> gt.softmax(X @ W, axis=1)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X, kinds = rng.normal(size=(25, 6)), np.eye(4)[rng.integers(0, 4, 25)]
W = gt.Variable(0.1 * rng.normal(size=(6, 4)))


def cross_entropy(p):
    return -np.mean(np.sum(kinds * np.log(np.clip(p, 1e-7, 1.0) + 1e-12), axis=1))


with gt.GradientTape() as tape:
    probabilities = gt.softmax(X @ W, axis=0)  # <- here
    loss = cross_entropy(probabilities)
gradient = tape.gradient(loss, W)
shares = probabilities.numpy().sum(axis=1)
