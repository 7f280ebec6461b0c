# expect: GT312
# says: out = np.multiply(x, 3.0)
# cause: np.multiply is told to write its tracked result into a plain array
# wrong: raises DetachError
# cure: np.multiply(x, 3.0, out=out) -> out = np.multiply(x, 3.0)
import numpy as np

import gradtape as gt


def f(x):
    out = np.empty(4)
    np.multiply(x, 3.0, out=out)  # <- here
    return np.sum(out)


g = gt.grad(f)(np.ones(4))
