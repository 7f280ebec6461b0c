"""Both directions of one table of similarities, with the pairs in another order."""

import numpy as np

import gradtape as gt


def contrast(a, b, partner):
    a = a / np.linalg.norm(a, axis=1, keepdims=True)
    b = b / np.linalg.norm(b, axis=1, keepdims=True)
    similar = a @ b.T / 0.1
    rows = similar - gt.logsumexp(similar, axis=1, keepdims=True)
    columns = similar - gt.logsumexp(similar, axis=0, keepdims=True)
    n = np.arange(len(a))
    return -0.5 * (np.mean(rows[n, partner]) + np.mean(columns[n, partner]))


rng = np.random.default_rng(0)
a, b, partner = rng.normal(size=(6, 4)), rng.normal(size=(6, 4)), np.array([2, 0, 1, 5, 3, 4])
gradient = gt.grad(contrast)(a, b, partner)
assert contrast(a - 0.01 * gradient, b, partner) < contrast(a, b, partner)
