# expect: GT201 because GT212
# cause: every layer of the model is frozen, and yet its gradients are asked for
# wrong: all(v is None for v in grads)
# cure: layers(False) -> layers(True)
import numpy as np

import gradtape as gt


def layers(trainable):
    rng = np.random.default_rng(1)
    return [gt.Variable(rng.normal(size=(3, 3)), trainable=trainable) for _ in range(2)]  # <- here


backbone = layers(False)
x = np.ones((4, 3))
with gt.GradientTape() as tape:
    h = x
    for w in backbone:
        h = np.tanh(h @ w)  # <- here
    loss = np.sum(h**2)
grads = tape.gradient(loss, backbone)  # <- asked
