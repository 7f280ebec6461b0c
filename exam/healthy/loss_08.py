"""The terms of a loss are brought to one scale with .item(), which says that no gradient is meant."""

import numpy as np

import gradtape as gt

w = gt.tensor([2.0, 0.5], requires_grad=True)
big, small = 1000.0 * (w[0] - 1.0) ** 2, 0.01 * (w[1] - 1.0) ** 2
loss = big / big.item() + small / small.item()
loss.backward()
assert np.isclose(loss.item(), 2.0)
assert np.allclose(w.grad.numpy(), [2.0, -4.0])
