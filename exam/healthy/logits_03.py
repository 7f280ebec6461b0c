"""Probabilities as features, and a gate: the logits come after them."""

import numpy as np

import gradtape as gt
import gradtape.nn.functional as F

rng = np.random.default_rng(0)
x, y = rng.normal(size=(8, 3)), rng.integers(0, 4, size=8)
w = gt.Variable(rng.normal(size=(3, 3)))
v = gt.Variable(rng.normal(size=(3, 4)))
with gt.GradientTape() as tape:
    topics = gt.softmax(x @ w, axis=1)
    gate = gt.sigmoid(topics @ v)
    loss = F.cross_entropy(gate * (x @ v), y) + F.binary_cross_entropy_with_logits((x * topics).sum(axis=1), y > 1)
gradients = tape.gradient(loss, [w, v])
assert all(np.any(g) for g in gradients)
