# expect: GT401
# cause: the product of many probabilities underflows to 0
# wrong: not np.isfinite(g)
# cure: np.log(np.prod(p**counts)) -> np.sum(np.log(p**counts))
import numpy as np

import gradtape as gt

counts = np.ones(2000)


def loss(p):
    return -np.log(np.prod(p**counts))  # <- here


g = gt.grad(loss)(0.5)
