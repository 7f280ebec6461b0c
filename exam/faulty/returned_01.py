# expect: GT311
# cause: the function has no return statement
# wrong: raises OperandError
# cure: np.mean((w * x - 1.0) ** 2)  # <- here -> return np.mean((w * x - 1.0) ** 2)
import numpy as np

import gradtape as gt

x = np.arange(4.0)


def loss(w):  # <- here
    np.mean((w * x - 1.0) ** 2)  # <- here


g = gt.grad(loss)(0.5)  # <- here
