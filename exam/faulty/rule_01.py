# expect: GT302
# cause: the rule returns the sum of the upstream gradient, one number for 400 (elsewhere a reshape is blamed)
# wrong: raises RuleError
# cure: np.sum(upstream * 2.0 * x) -> upstream * 2.0 * x
import numpy as np

import gradtape as gt


@gt.custom_gradient
def square(x):
    def rule(upstream):  # <- here
        return np.sum(upstream * 2.0 * x)  # <- here

    return x * x, rule


w = gt.Variable(np.linspace(-1, 1, 400))
with gt.GradientTape() as tape:
    out = square(w.reshape(20, 20))  # <- asked
    loss = np.mean(out.reshape(400))
g = tape.gradient(loss, w)  # <- asked
