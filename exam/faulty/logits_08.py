# expect: GT509
# cause: the logarithm of the softmax of what is a softmax already
# wrong: value > 0.3
# cure: gt.log_softmax(p, axis=1) -> np.log(p)
import numpy as np

import gradtape as gt

x = np.random.default_rng(0).normal(size=(20, 3))
start = np.array([[30.0, -12.0], [25.0, 4.0], [-9.0, 16.0]])
labels = (x @ start).argmax(axis=1)


def loss(w):
    p = gt.softmax(x @ w, axis=1)  # <- here
    return -np.mean(gt.log_softmax(p, axis=1)[np.arange(20), labels])  # <- here


value, gradient = gt.value_and_grad(loss)(start)
