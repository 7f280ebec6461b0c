# expect: GT201 because GT207
# cause: pixels are quantised with astype(np.uint8) in the middle of the chain
# wrong: not np.any(g)
# cure: np.clip(bright, 0, 255).astype(np.uint8) -> np.clip(bright, 0, 255)
import numpy as np

import gradtape as gt

image = np.linspace(10.0, 200.0, 30).reshape(5, 6)


def contrast_loss(gain):
    bright = image * gain
    pixels = np.clip(bright, 0, 255).astype(np.uint8)  # <- here
    return np.mean(pixels * 1.0) / 255.0


g = gt.grad(contrast_loss)(1.1)  # <- asked
