"""log_softmax in the model and cross_entropy: twice is the same as once."""

import numpy as np

import gradtape as gt
import gradtape.nn.functional as F

rng = np.random.default_rng(0)
x, y, w = rng.normal(size=(8, 3)), rng.integers(0, 4, size=8), rng.normal(size=(3, 4))
once = gt.grad(lambda w: F.cross_entropy(x @ w, y))(w)
twice = gt.grad(lambda w: F.cross_entropy(F.log_softmax(x @ w, axis=1), y))(w)
assert np.allclose(once, twice)
