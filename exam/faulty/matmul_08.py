# expect: GT111
# cause: the scale is a plain number, and @ is no multiplication with a number
# wrong: raises ShapeError
# cure: scale @ features -> scale * features
import numpy as np

import gradtape as gt

features = np.linspace(0, 1, 5)


def score(scale):
    return np.sum(np.tanh(scale @ features))  # <- here


g = gt.grad(score)(2.0)
