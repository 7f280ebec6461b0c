# expect: GT201 because GT202
# cause: the loss is computed from w_old, and the gradient is asked for w_new, which nothing has used
# wrong: g is None
# cure: X @ w_old -> X @ w_new
import numpy as np

import gradtape as gt

X = np.random.default_rng(0).normal(size=(10, 3))
w_old = gt.Variable(np.ones(3))
w_new = gt.Variable(np.zeros(3))

with gt.GradientTape() as tape:
    loss = ((X @ w_old - 1.0) ** 2).mean()  # <- here
g = tape.gradient(loss, w_new)  # <- here
