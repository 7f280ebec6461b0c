# expect: GT116
# cause: the images have 3 channels, the kernel of the convolution expects 1
# wrong: raises ShapeError
# cure: size=(4, 1, 3, 3) -> size=(4, 3, 3, 3)
import numpy as np

import gradtape as gt
from gradtape.nn import functional as F

rng = np.random.default_rng(9)
images = rng.normal(size=(2, 3, 8, 8))
kernel = gt.Variable(rng.normal(size=(4, 1, 3, 3)))
with gt.GradientTape() as tape:
    maps = F.relu(F.conv2d(images, kernel, padding=1))  # <- here
    loss = maps.mean()
g = tape.gradient(loss, kernel)
