# expect: GT101
# cause: the dot products are (30,) and the lengths (30, 1): dividing one by the other makes 30 x 30
# wrong: score.shape == (30, 30)
# cure: dots / lengths -> dots / lengths[:, 0]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(5)
a = rng.normal(size=(30, 8))
b = rng.normal(size=(30, 8))
projection = gt.tensor(np.eye(8), requires_grad=True)

u = a @ projection
dots = (u * b).sum(axis=1)
lengths = np.sqrt((u * u) @ np.ones((8, 1)))
score = dots / lengths  # <- here
loss = 1.0 - score.mean()
loss.backward()
print(projection.grad.shape)
