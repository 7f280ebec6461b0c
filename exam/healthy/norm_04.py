"""Vectors of length one: each row is divided by its norm."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(3)
E = gt.tensor(rng.normal(size=(10, 4)), requires_grad=True)
unit = E / np.linalg.norm(E, axis=1, keepdims=True)
cosines = unit @ unit.T
loss = (cosines - np.eye(10)).sum()
loss.backward()
assert np.allclose((E.grad * E).sum(axis=1).numpy(), 0.0, atol=1e-10)
