# expect: GT201 because GT209
# says: sign
# cause: the perceptron's output is a sign: its derivative is zero
# wrong: g is None
# cure: np.sign(X @ w) -> np.tanh(X @ w)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
X = rng.normal(size=(20, 3))
y = np.sign(X[:, 0])
w = gt.Variable(rng.normal(size=3))
with gt.GradientTape() as tape:
    out = np.sign(X @ w)  # <- here
    loss = np.mean((out - y) ** 2)
g = tape.gradient(loss, w)  # <- asked
