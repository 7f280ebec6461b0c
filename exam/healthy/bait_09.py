"""Soft assignment of slots: normalised over the slots, then averaged over the inputs."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(8)
inputs = rng.normal(size=(10, 4))


def spread(slots):
    weights = gt.softmax(inputs @ slots.T, axis=1)
    share = weights / (weights.sum(axis=0, keepdims=True) + 1e-8)
    updated = share.T @ inputs
    return np.sum((updated - slots) ** 2)


assert gt.gradcheck(spread, rng.normal(size=(3, 4)))
