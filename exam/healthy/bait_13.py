"""A rebound name that is only ever used as the new tensor."""

import numpy as np

import gradtape as gt

x = gt.tensor([1.0, 2.0], requires_grad=True)
h = x
for _ in range(3):
    h = np.tanh(h * 1.5)
h.sum().backward()
assert np.all(x.grad.numpy() > 0.0)
