# expect: GT501
# cause: a softmax that was written out divides by the sum of all examples
# wrong: not np.allclose(np.asarray(softmax(X @ np.ones((4, 3)))).sum(axis=1), 1.0)
# cure: powers.sum() -> powers.sum(axis=1, keepdims=True)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X, labels = rng.normal(size=(30, 4)), rng.integers(0, 3, 30)


def softmax(scores):
    powers = np.exp(scores - np.max(scores))
    return powers / powers.sum()  # <- here


def loss(W):
    p = softmax(X @ W) + 1e-9
    return -np.mean(np.log(p[np.arange(30), labels]))


gradient = gt.grad(loss)(np.zeros((4, 3)))
