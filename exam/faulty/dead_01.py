# expect: GT404
# cause: all units of the hidden layer are below zero for every example, so relu stops the gradient
# wrong: not np.any(grads[0])
# cure: np.full(4, -50.0) -> np.full(4, 0.0)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
W, b, v = gt.Variable(rng.normal(size=(3, 4))), gt.Variable(np.full(4, -50.0)), gt.Variable(np.ones(4))
with gt.GradientTape() as tape:
    hidden = gt.relu(X @ W + b)  # <- here
    loss = np.mean((hidden @ v - y) ** 2)
grads = tape.gradient(loss, [W, b])  # <- asked
