# expect: GT509
# cause: a sigmoid that was written out, and a loss that takes logits
# wrong: value > 0.3
# cure: 1.0 / (1.0 + np.exp(-(x @ w))) -> x @ w
import numpy as np

import gradtape as gt
import gradtape.nn.functional as F

x = np.random.default_rng(0).normal(size=(20, 3))
start = np.array([30.0, -12.0, 25.0])
y = x @ start > 0


def loss(w):
    p = 1.0 / (1.0 + np.exp(-(x @ w)))  # <- here
    return F.binary_cross_entropy_with_logits(p, y)  # <- here


value, gradient = gt.value_and_grad(loss)(start)
