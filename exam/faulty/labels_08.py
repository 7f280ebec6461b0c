# expect: GT118
# cause: the labels of the whole data set meet the logits of one batch: 48 against 12
# wrong: raises ShapeError
# cure: F.cross_entropy(x[:12] @ w, y) -> F.cross_entropy(x[:12] @ w, y[:12])
import numpy as np

import gradtape as gt
from gradtape.nn import functional as F

rng = np.random.default_rng(7)
x, y = rng.normal(size=(48, 3)), rng.integers(0, 4, size=48)
w = gt.tensor(rng.normal(size=(3, 4)), requires_grad=True)
loss = F.cross_entropy(x[:12] @ w, y)  # <- here
loss.backward()
