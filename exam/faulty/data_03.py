# expect: GT401
# cause: the parameter itself has become NaN, a step earlier
# wrong: np.isnan(gradient.numpy()).all()
# cure: v / np.sqrt(v) -> v / (np.sqrt(v) + 1e-8)
import numpy as np

import gradtape as gt

w, v = gt.Variable(np.ones(2)), np.zeros(2)
with np.errstate(all="ignore"):
    w.assign(w - 0.1 * v / np.sqrt(v))
with gt.GradientTape() as tape:
    h = np.ones((4, 2)) @ w  # <- here
    loss = np.mean((h - 1.0) ** 2)
gradient = tape.gradient(loss, w)
