# expect: GT103
# cause: the means of the rows meet the columns, of each example alike
# wrong: abs(float(np.mean(centred(P, batch[0]), axis=1)[0])) > 1e-9
# cure: h.mean(axis=1) -> h.mean(axis=1, keepdims=True)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)


def centred(P, tokens):
    h = tokens @ P
    return h - h.mean(axis=1)  # <- here


def energy(P, tokens):
    return np.sum(np.tanh(centred(P, tokens)))


P, batch = rng.normal(size=(6, 6)), rng.normal(size=(3, 6, 6))
print(gt.vmap(gt.grad(energy), in_axes=(None, 0))(P, batch).shape)
