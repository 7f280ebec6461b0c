# expect: GT118
# cause: the labels are a column (16, 1); class numbers have no axis of classes
# wrong: raises ShapeError
# cure: cross_entropy(x @ w, labels) -> cross_entropy(x @ w, labels[:, 0])
import numpy as np

import gradtape as gt
from gradtape.nn import functional as F

rng = np.random.default_rng(6)
x, labels = rng.normal(size=(16, 3)), rng.integers(0, 5, size=(16, 1))


def objective(w):
    return F.cross_entropy(x @ w, labels)  # <- here


g = gt.grad(objective)(np.zeros((3, 5)))
