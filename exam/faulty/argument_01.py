# expect: GT314
# cause: argnums counts from 0, and the function has two arguments
# wrong: raises OperandError
# cure: argnums=2 -> argnums=1
import numpy as np

import gradtape as gt


def spring(k, x):
    return 0.5 * k * np.sum(x**2)


force = gt.grad(spring, argnums=2)
print(force(10.0, np.array([0.1, 0.2])))  # <- here
