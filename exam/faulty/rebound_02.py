# expect: GT201 because GT205
# cause: x is scaled under the same name inside the tape, and the gradient is asked for the new x
# wrong: g is None
# cure: x = x / 10.0 -> scaled = x / 10.0
import numpy as np

import gradtape as gt

x = gt.Variable([1.0, 2.0])
with gt.GradientTape() as tape:
    y = np.sum(x**3)
    x = x / 10.0  # <- here
g = tape.gradient(y, x)  # <- asked
