# expect: GT404
# says: sigmoid
# cause: logits in the hundreds saturate the sigmoid to the last bit
# wrong: not np.any(w.grad.numpy())
# cure: X * 1000.0 -> X
import numpy as np

import gradtape as gt

rng = np.random.default_rng(3)
X = rng.choice([-1.0, 1.0], size=(30, 2)) + 0.1
y = (X[:, 0] > 0) * 1.0
w = gt.tensor([1.0, 0.0], requires_grad=True)
p = gt.sigmoid((X * 1000.0) @ w)  # <- here
loss = np.mean((p - 0.5) ** 2)
loss.backward()  # <- asked
