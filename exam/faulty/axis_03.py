# expect: GT117
# cause: softmax over axis 2 of scores that have two axes
# wrong: raises AxisError
# cure: axis=2 -> axis=-1
import numpy as np

import gradtape as gt

x = np.random.default_rng(1).normal(size=(4, 6))
wq = gt.Variable(np.eye(6))
with gt.GradientTape() as tape:
    q = x @ wq
    weights = gt.softmax(q @ x.T, axis=2)  # <- here
    out = (weights @ x).sum()
tape.gradient(out, wq)
