# expect: GT511
# cause: the gradient is never cleared, so that each step goes along the sum of all
# wrong: not np.allclose(w.numpy(), [1.0, 2.0], atol=0.05)
# cure: \n    w.assign_sub(0.1 * w.grad) -> \n    w.assign_sub(0.1 * w.grad)\n    w.grad = None
import numpy as np

import gradtape as gt

X = np.random.default_rng(0).normal(size=(40, 2))
y = X @ np.array([1.0, 2.0])
w = gt.Variable(np.zeros(2)).requires_grad_()
for _ in range(60):
    loss = np.mean((X @ w - y) ** 2)
    loss.backward()  # <- here
    w.assign_sub(0.1 * w.grad)  # <- here
