# expect: GT305
# cause: mean is not called, so that the target is a method
# wrong: raises UntrackedError
# cure: .mean  # <- here -> .mean()  # <- here
import numpy as np

import gradtape as gt

w = gt.Variable([0.5, -0.5])
x = np.array([[1.0, 2.0], [3.0, 4.0]])
with gt.GradientTape() as tape:
    loss = ((x @ w) ** 2).mean  # <- here
g = tape.gradient(loss, w)  # <- here
