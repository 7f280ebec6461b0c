# expect: GT201 because GT202
# cause: the hidden layer is computed and then left out: the head reads the input again
# wrong: all(v is None for v in grads)
# cure: x @ net["head"] -> h @ net["head"]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
net = {name: gt.Variable(rng.normal(size=(4, 4))) for name in ("first", "second", "head")}
x = rng.normal(size=(6, 4))

with gt.GradientTape() as tape:
    h = np.tanh(x @ net["first"])
    h = np.tanh(h @ net["second"])
    out = x @ net["head"]
    loss = (out**2).mean()  # <- here
grads = tape.gradient(loss, [net["first"], net["second"]])  # <- here
