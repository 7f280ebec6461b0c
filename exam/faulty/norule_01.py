# expect: GT313
# cause: np.packbits has no gradient rule
# wrong: raises UnsupportedError
# cure: np.packbits(bits) -> bits * 1.0
import numpy as np

import gradtape as gt

w = gt.Variable(np.array([0.3, -0.2, 0.8]))
with gt.GradientTape() as tape:
    bits = w > 0
    code = np.packbits(bits)  # <- here
    loss = np.sum(w * code)
g = tape.gradient(loss, w)
