"""A parameter that this loss does not use, and zeros asked for it."""

import numpy as np

import gradtape as gt

w, v = gt.Variable(np.ones(3)), gt.Variable(np.ones(2))
with gt.GradientTape() as tape:
    loss = np.sum(w**2)
g, h = tape.gradient(loss, [w, v], unconnected_gradients="zero")
assert np.allclose(g.numpy(), 2.0)
assert not h.numpy().any()
