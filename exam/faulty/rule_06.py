# expect: GT304
# cause: the function has two arguments and its rule returns one gradient
# wrong: raises RuleError
# cure: return g * b -> return g * b, g * a
import numpy as np

import gradtape as gt


@gt.custom_gradient
def product(a, b):
    def gradient(g):  # <- here
        return g * b  # <- here

    return a * b, gradient


u, v = gt.Variable([1.0, 2.0]), gt.Variable([3.0, 4.0])
with gt.GradientTape() as tape:
    y = np.sum(product(u, v))  # <- asked
grads = tape.gradient(y, [u, v])  # <- asked
