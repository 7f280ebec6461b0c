# expect: GT401
# cause: exp overflows for a large logit: a softmax by hand without taking off the maximum
# wrong: np.isnan(g.numpy()).any()
# cure: np.exp(z) -> np.exp(z - z.max(axis=1, keepdims=True))
import numpy as np

import gradtape as gt


def softmax(z):
    e = np.exp(z)  # <- here
    return e / e.sum(axis=1, keepdims=True)


z = gt.Variable([[1000.0, 10.0], [0.0, 1.0]])
with gt.GradientTape() as tape:
    weights = softmax(z)
    loss = np.sum(weights * np.array([1.0, 2.0]))
g = tape.gradient(loss, z)
