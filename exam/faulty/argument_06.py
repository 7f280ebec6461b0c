# expect: GT314 or GT307
# cause: the loss is printed with float() while it still has one value for each example
# wrong: raises ShapeError
# cure: float(loss) -> float(loss.mean())
import numpy as np

import gradtape as gt

w = gt.Variable([1.0, -1.0])
x = np.array([[1.0, 2.0], [0.0, 1.0], [2.0, 2.0]])
with gt.GradientTape() as tape:
    loss = np.log1p(np.exp(-(x @ w)))
print("loss", float(loss))  # <- here
g = tape.gradient(loss, w)
