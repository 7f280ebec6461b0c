# expect: GT201 because GT209
# cause: the loss is the share of predictions above a threshold: a comparison has no derivative
# wrong: g is None
# cure: np.mean(prob > 0.5) -> np.mean(prob)
import numpy as np

import gradtape as gt

scores = np.array([[0.2, 1.0], [-0.4, 0.3], [1.2, -2.0]])
theta = gt.Variable([0.5, -0.5])
with gt.GradientTape() as tape:
    prob = gt.sigmoid(scores @ theta)
    share = np.mean(prob > 0.5)  # <- here
g = tape.gradient(share, theta)  # <- asked
