# expect: GT501
# cause: a softmax that was written out, over the examples
# wrong: not np.allclose(rows, 1.0)
# cure: e.sum(axis=0) -> e.sum(axis=1, keepdims=True)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
x, labels = rng.normal(size=(10, 6)), rng.integers(0, 4, size=10)


def probabilities(w):
    z = x @ w
    e = np.exp(z - z.max())
    return e / e.sum(axis=0)  # <- here


def loss(w):
    p = probabilities(w)
    return -np.mean(np.log(p[np.arange(10), labels]))


start = rng.normal(size=(6, 4))
gradient = gt.grad(loss)(start)
rows = probabilities(start).sum(axis=1)
