# expect: GT402
# cause: arccos of exactly 1, the cosine between two equal vectors, has an infinite slope
# wrong: not np.isfinite(g).all()
# cure: np.arccos(cosine) -> np.arccos(cosine * (1 - 1e-9))
import numpy as np

import gradtape as gt

reference = np.array([1.0, 0.0])


def angle(v):
    cosine = np.sum(v * reference)
    return np.arccos(cosine)  # <- here


g = gt.grad(angle)(np.array([1.0, 0.0]))
