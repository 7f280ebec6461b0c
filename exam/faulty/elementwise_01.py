# expect: GT110
# cause: a bias of length 3 is added to a layer of 4 units
# wrong: raises ShapeError
# cure: np.zeros(3) -> np.zeros(4)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X = rng.normal(size=(10, 3))
W = gt.Variable(rng.normal(size=(3, 4)))
b = gt.Variable(np.zeros(3))

with gt.GradientTape() as tape:
    hidden = gt.relu(X @ W + b)  # <- here
    loss = hidden.mean()
print(tape.gradient(loss, [W, b]))
