# expect: GT113
# cause: the first state is (2,) and the others (1, 2), because the drift matrix is applied to a row
# wrong: raises ShapeError
# cure: x[None] @ A.T -> x @ A.T
import numpy as np

import gradtape as gt

A = np.array([[0.0, 1.0], [-1.0, -0.1]])


def endpoint(x0):
    states = [x0]
    x = x0
    for _ in range(3):
        x = x + 0.1 * (x[None] @ A.T)
        states.append(x)
    return np.stack(states)[-1].sum()  # <- here


print(gt.grad(endpoint)(np.array([1.0, 0.0])))
