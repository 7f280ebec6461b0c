# expect: GT310
# cause: the variable holds integers, as its initial value does
# wrong: raises DtypeError
# cure: gt.Variable([0, 0]) -> gt.Variable([0.0, 0.0])
import numpy as np

import gradtape as gt

X = np.array([[1.0, 2.0], [3.0, 4.0]])
w = gt.Variable([0, 0])  # <- here
with gt.GradientTape() as tape:
    loss = np.mean((X @ w - 1.0) ** 2)
g = tape.gradient(loss, w)  # <- here
