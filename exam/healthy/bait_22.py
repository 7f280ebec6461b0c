"""A Markov chain whose transition matrix has columns that sum to one."""

import numpy as np

import gradtape as gt

start, observed = np.array([1.0, 0.0, 0.0]), np.array([0.2, 0.5, 0.3])


def mismatch(logits):
    transition = gt.softmax(logits, axis=0)
    state = start
    for _ in range(4):
        state = transition @ state
    return np.sum((state - observed) ** 2)


logits = np.zeros((3, 3))
first = float(mismatch(logits))
for _ in range(40):
    logits = logits - 1.0 * gt.grad(mismatch)(logits)
assert float(mismatch(logits)) < 0.1 * first
