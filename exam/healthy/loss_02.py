"""The optimum is reached exactly: the residual is zero and so is the gradient."""

import numpy as np

import gradtape as gt

target = np.array([1.0, 2.0, 3.0])
x = gt.tensor(np.zeros(3), requires_grad=True)
for _ in range(3):
    loss = ((x - target) ** 2).sum()
    loss.backward()
    x = (x - 0.5 * x.grad).detach().requires_grad_()
((x - target) ** 2).sum().backward()
assert np.all(x.grad.numpy() == 0.0)
