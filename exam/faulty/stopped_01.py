# expect: GT201 because GT208
# cause: stop_gradient was put around the prediction and not around the target
# wrong: g is None
# cure: gt.stop_gradient(pred) - target -> pred - target
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
state = rng.normal(size=(5, 3))
w = gt.Variable(rng.normal(size=3))
target = rng.normal(size=5)

with gt.GradientTape() as tape:
    pred = state @ w
    loss = np.mean((gt.stop_gradient(pred) - target) ** 2)  # <- here
g = tape.gradient(loss, w)  # <- asked
