"""A loss of shape (1, 1) is one number, and so is one of shape (1,)."""

import numpy as np

import gradtape as gt

x = np.array([[1.0], [2.0]])
quadratic = lambda x: x.T @ np.array([[2.0, 0.0], [0.0, 3.0]]) @ x
assert np.allclose(gt.grad(quadratic)(x), [[4.0], [12.0]])
w = gt.tensor([3.0], requires_grad=True)
(w**2).backward()
assert w.grad.shape == (1,)
