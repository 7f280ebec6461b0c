"""A hook clips the gradient on its way; the shape stays."""

import numpy as np

import gradtape as gt

w = gt.tensor(np.array([10.0, 0.1]), requires_grad=True)
h = w * 1.0
h.register_hook(lambda g: np.clip(g, -1.0, 1.0))
(h**2).sum().backward()
assert np.allclose(w.grad.numpy(), [1.0, 0.2])
