# expect: GT114
# cause: 6 images of 7 x 7 pixels have 294 numbers, not 6 x 64
# wrong: raises ShapeError
# cure: reshape(6, 64) -> reshape(6, 49)
import numpy as np

import gradtape as gt

images = gt.tensor(np.random.default_rng(0).uniform(size=(6, 7, 7)), requires_grad=True)
flat = images.reshape(6, 64)  # <- here
loss = (flat**2).sum()
loss.backward()
print(images.grad.shape)
