# expect: GT210
# cause: math.exp takes the tensor as a plain number, so the slope through it is lost
# wrong: abs(g - 1.5 * np.exp(0.5)) > 0.1
# cure: math.exp(x) -> gt.exp(x)
import math

import gradtape as gt


def f(x):
    return x * math.exp(x)  # <- here


g = gt.grad(f)(0.5)  # <- asked
