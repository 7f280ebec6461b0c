# expect: GT301
# cause: the losses of the examples are seeded with the weights of another, larger batch: 32 against 24
# wrong: raises ShapeError
# cure: backward(weights) -> backward(weights[:24])
import numpy as np

import gradtape as gt

rng = np.random.default_rng(2)
weights = rng.uniform(size=32)
x, y = rng.normal(size=(24, 3)), rng.normal(size=24)
w = gt.tensor(np.zeros(3), requires_grad=True)
losses = (x @ w - y) ** 2
losses.backward(weights)  # <- here
