"""The same step written three ways, in one process: tape, backward, and function."""

import numpy as np

import gradtape as gt

X = np.random.default_rng(26).normal(size=(9, 2))
y = X.sum(axis=1)
start = np.array([0.5, -0.5])

v = gt.Variable(start)
with gt.GradientTape() as tape:
    loss = np.mean((X @ v - y) ** 2)
by_tape = tape.gradient(loss, v).numpy()

t = gt.tensor(start, requires_grad=True)
((X @ t - y) ** 2).mean().backward()

by_function = gt.grad(lambda w: np.mean((X @ w - y) ** 2))(start)
assert np.allclose(by_tape, t.grad.numpy())
assert np.allclose(by_tape, by_function)
