"""A triplet loss with a margin, over embeddings that are normalised."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(3)
anchors, positives, negatives = rng.normal(size=(3, 12, 6))


def loss(w):
    a, p, n = (x @ w for x in (anchors, positives, negatives))
    near, far = np.sum((a - p) ** 2, axis=1), np.sum((a - n) ** 2, axis=1)
    return np.mean(np.maximum(near - far + 1.0, 0.0))


w = rng.normal(size=(6, 3)) * 0.3
start = loss(w)
for _ in range(30):
    w = w - 0.05 * gt.grad(loss)(w)
assert loss(w) < start
