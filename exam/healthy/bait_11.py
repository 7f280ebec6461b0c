"""unconnected_gradients='none' says that None was expected."""

import gradtape as gt

a, b = gt.Variable(1.0), gt.Variable(2.0)
with gt.GradientTape() as tape:
    y = a * 2.0
assert tape.gradient(y, b, unconnected_gradients="none") is None
