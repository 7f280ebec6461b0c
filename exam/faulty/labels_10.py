# expect: GT118
# cause: labels as a column
# wrong: raises ShapeError
# cure: F.cross_entropy(x @ w, labels) -> F.cross_entropy(x @ w, labels[:, 0])
import numpy as np

import gradtape as gt
import gradtape.nn.functional as F

rng = np.random.default_rng(0)
x, labels = rng.normal(size=(12, 5)), rng.integers(0, 3, size=(12, 1))
w = gt.tensor(rng.normal(size=(5, 3)), requires_grad=True)
loss = F.cross_entropy(x @ w, labels)  # <- here
loss.backward()
