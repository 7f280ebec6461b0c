# expect: GT111
# cause: scores are queries times keys, and the keys were not transposed: (5, 8) @ (6, 8)
# wrong: raises ShapeError
# cure: q @ k -> q @ k.T
import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)


def attention(q, k, v):
    scores = q @ k / np.sqrt(q.shape[-1])  # <- here
    return gt.softmax(scores, axis=-1) @ v


def loss(wq):
    x = rng.normal(size=(5, 8))
    memory = rng.normal(size=(6, 8))
    return np.sum(attention(x @ wq, memory, memory))


print(gt.grad(loss)(np.eye(8)).shape)
