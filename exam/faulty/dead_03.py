# expect: GT404
# cause: the mask of valid steps is zero everywhere, because it was built with the wrong comparison
# wrong: not np.any(w.grad)
# cure: lengths[:, None] < 0 -> lengths[:, None] > np.arange(5)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
sequences = rng.normal(size=(3, 5, 2))
lengths = np.array([5, 3, 2])
mask = (lengths[:, None] < 0) * np.ones((3, 5))

w = gt.tensor([0.3, -0.1], requires_grad=True)
errors = (sequences @ w - 1.0) ** 2
loss = np.sum(errors * mask) / 10.0  # <- here
loss.backward()  # <- asked
