# expect: GT101
# cause: a column of predictions against a vector, in a closure, with NumPy under another name
# wrong: pairs == 81
# cure: onp.zeros((2, 1)) -> onp.zeros(2)
import numpy as onp

import gradtape as gt


def make_loss(x, y):
    def loss(w):
        residual = onp.dot(x, w) - y  # <- here
        return onp.mean(onp.square(residual)), residual.size

    return loss


rng = onp.random.default_rng(0)
loss = make_loss(rng.normal(size=(9, 2)), rng.normal(size=9))
(value, pairs), gradient = gt.value_and_grad(loss, has_aux=True)(onp.zeros((2, 1)))
