# expect: GT201 because GT211
# cause: the first derivative was taken outside of the outer tape's block
# wrong: g is None
# cure: first = inner.gradient(y, x)  # <- here ->     first = inner.gradient(y, x)
import numpy as np

import gradtape as gt

x = gt.Variable(1.3)
with gt.GradientTape() as outer, gt.GradientTape() as inner:
    y = np.sin(x) * x
first = inner.gradient(y, x)  # <- here
g = outer.gradient(first, x)  # <- asked
