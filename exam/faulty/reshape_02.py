# expect: GT114
# cause: 10 units cannot be split into 4 heads
# wrong: raises ShapeError
# cure: heads = 4 -> heads = 5
import numpy as np

import gradtape as gt

heads = 4


def split_heads(x):
    batch, length = x.shape[:2]
    return np.reshape(x, (batch, length, heads, -1))  # <- here


def loss(w):
    x = np.ones((2, 3, 8)) @ w
    return np.sum(split_heads(x).transpose(0, 2, 1, 3) ** 2)


print(gt.grad(loss)(np.ones((8, 10))).shape)
