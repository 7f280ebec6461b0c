"""Elements of a computed tensor are written in a loop; gradients are exact."""

import numpy as np

import gradtape as gt

x = gt.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = gt.zeros(4)
y[0] = 1.0
for i in range(3):
    y[i + 1] = y[i] * x[i]
y[3].backward()
assert np.allclose(x.grad.numpy(), [6.0, 3.0, 2.0])
