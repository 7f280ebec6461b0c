"""Batch normalisation with running averages that are assigned inside the tape."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
gamma, beta = gt.Variable(np.ones(3)), gt.Variable(np.zeros(3))
running = gt.Variable(np.zeros(3), trainable=False)
x = rng.normal(2.0, 3.0, size=(50, 3))
W = gt.Variable(np.eye(3))
with gt.GradientTape() as tape:
    h = x @ W
    mean, var = h.mean(axis=0), h.var(axis=0)
    running.assign(0.9 * running + 0.1 * mean)
    out = gamma * (h - mean) / np.sqrt(var + 1e-5) + beta
    loss = np.mean((out - 1.0) ** 2)
grads = tape.gradient(loss, [gamma, beta, W])
assert np.allclose(grads[1].numpy(), -2.0 / 3.0)
assert np.allclose(running.numpy(), 0.1 * x.mean(axis=0))
