# expect: GT307
# cause: the losses of the batch were not reduced to one number before backward
# wrong: raises ShapeError
# cure: loss.backward() -> loss.mean().backward()
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X, y = rng.normal(size=(10, 2)), rng.normal(size=10)
w = gt.tensor([0.0, 0.0], requires_grad=True)
loss = (X @ w - y) ** 2
loss.backward()  # <- here
