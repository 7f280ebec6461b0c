# expect: GT210
# cause: the learned learning rate is read with float() in the unrolled loop, so the steps do not depend on it
# wrong: not np.any(meta.grad)
# cure: float(meta * 0.1) -> meta * 0.1
import numpy as np

import gradtape as gt

target = np.array([1.0, -1.0])
meta = gt.tensor(0.7, requires_grad=True)
w = gt.tensor(np.zeros(2), requires_grad=True)
for _ in range(3):
    rate = float(meta * 0.1)  # <- here
    w = w - rate * 2 * (w - target)  # <- here
loss = ((w - target) ** 2).sum() + 0.0 * meta
loss.backward()  # <- asked
