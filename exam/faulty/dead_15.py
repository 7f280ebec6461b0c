# expect: GT404
# cause: np.maximum(0, x) with every x below zero, in a hinge that is scaled and shifted afterwards
# wrong: not np.any(g)
# cure: np.maximum(0.0, margin) -> np.logaddexp(0.0, margin)
import numpy as np

import gradtape as gt

X = np.random.default_rng(5).uniform(1.0, 2.0, size=(12, 2))


def cost(w):
    margin = -5.0 - X @ w
    active = np.maximum(0.0, margin)  # <- here
    return np.sum((active + 1.0) ** 2)


g = gt.grad(cost)(np.array([1.0, 1.0]))  # <- asked
