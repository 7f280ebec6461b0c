# expect: GT509
# cause: a softmax in the model, and one in the loss
# wrong: value > 0.5
# cure: gt.softmax(x @ w, axis=1) -> x @ w
import numpy as np

import gradtape as gt
import gradtape.nn.functional as F

x = np.random.default_rng(0).normal(size=(40, 3))
start = 40 * np.random.default_rng(1).normal(size=(3, 4))
y = (x @ start).argmax(axis=1)


def model(w):
    return gt.softmax(x @ w, axis=1)  # <- here


def loss(w):
    return F.cross_entropy(model(w), y)  # <- asked


value, gradient = gt.value_and_grad(loss)(start)
