"""One head of two is unused, and the answer is None for that one only."""

import numpy as np

import gradtape as gt

a, b = gt.Variable([1.0, 2.0]), gt.Variable([3.0, 4.0])
with gt.GradientTape() as tape:
    loss = np.sum(np.exp(a))
ga, gb = tape.gradient(loss, [a, b])
assert np.allclose(ga.numpy(), np.exp([1.0, 2.0]))
assert gb is None
