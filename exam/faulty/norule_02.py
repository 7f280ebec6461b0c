# expect: GT313
# cause: scipy.special.mathieu_a has no gradient rule
# wrong: raises UnsupportedError
# cure: special.mathieu_a(2, q) -> 4.0 + q**2 * 5.0 / 12.0
import numpy as np
from scipy import special

import gradtape as gt


def level(q):
    return np.sum(special.mathieu_a(2, q))  # <- here


g = gt.grad(level)(np.array([0.1, 0.2]))
