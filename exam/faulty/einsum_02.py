# expect: GT112
# cause: the operand has three axes and its subscript two letters
# wrong: raises ValueError
# cure: "ij,j->i" -> "bij,j->bi"
import numpy as np

import gradtape as gt

rotations = np.random.default_rng(1).normal(size=(7, 3, 3))


def spread(v):
    turned = gt.einsum("ij,j->i", rotations, v)  # <- here
    return np.sum(turned**2)


print(gt.grad(spread)(np.array([1.0, 0.0, 0.0])))
