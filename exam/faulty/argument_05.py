# expect: GT314
# cause: the branch asks whether a vector of losses is below a number, which is not one answer
# wrong: raises ShapeError
# cure: losses < 0.5 -> losses.mean() < 0.5
import numpy as np

import gradtape as gt

X, y = np.arange(6.0).reshape(3, 2), np.array([0.0, 1.0, 2.0])
w = gt.tensor([0.1, 0.2], requires_grad=True)
for _ in range(3):
    losses = (X @ w - y) ** 2
    if losses < 0.5:  # <- here
        break
    losses.mean().backward()
    w = (w - 0.01 * w.grad).detach().requires_grad_()
