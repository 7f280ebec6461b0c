# expect: GT511
# cause: the gradient is clipped in place and used, and never cleared
# wrong: w.grad is not None
# cure: w -= 0.1 * w.grad -> w -= 0.1 * w.grad\n    w.grad = None
import numpy as np

import gradtape as gt

X = np.random.default_rng(0).normal(size=(10, 2))
w = gt.tensor(np.zeros(2), requires_grad=True)
for _ in range(4):
    loss = np.mean((X @ w - 1.0) ** 2)
    loss.backward()  # <- here
    w.grad *= min(1.0, 1.0 / float(np.sqrt(np.sum(w.grad**2))))
    with gt.no_grad():
        w -= 0.1 * w.grad  # <- here
print(w)
