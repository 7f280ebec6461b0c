# expect: GT313
# cause: scipy.special.ncfdtr has no gradient rule
# wrong: raises UnsupportedError
# cure: special.ncfdtr(2.0, 5.0, 0.0, x) -> special.fdtr(2.0, 5.0, x)
import numpy as np
from scipy import special

import gradtape as gt


def level(x):
    return np.sum(special.ncfdtr(2.0, 5.0, 0.0, x))  # <- here


g = gt.grad(level)(np.array([0.1, 0.2]))
