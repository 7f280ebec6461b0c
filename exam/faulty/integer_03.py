# expect: GT201 because GT207
# cause: the position is made an integer to look up a pixel
# wrong: gradient == 0
# cure: return image[index] * 2.0 -> return np.interp(position, np.arange(10.0), image) * 2.0
import numpy as np

import gradtape as gt

image = np.arange(10.0) ** 2


def pixel(position):
    index = position.astype(int)  # <- here
    return image[index] * 2.0


gradient = gt.grad(pixel)(3.7)  # <- asked
