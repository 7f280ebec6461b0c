# expect: GT111
# cause: the image was flattened to 64 numbers, the first layer expects 49
# wrong: raises ShapeError
# cure: size=(49, 5) -> size=(64, 5)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(2)
images = rng.uniform(size=(6, 8, 8))
layers = [gt.tensor(rng.normal(size=(49, 5)), requires_grad=True)]
layers.append(gt.tensor(rng.normal(size=(5, 2)), requires_grad=True))

h = images.reshape(6, -1)
for w in layers:
    h = gt.tanh(gt.matmul(h, w))  # <- here
h.sum().backward()
