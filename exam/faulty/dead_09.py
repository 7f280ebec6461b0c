# expect: GT404
# says: clip
# cause: the learned exposure lies outside of the bounds it is clipped to, at every pixel
# wrong: not np.any(g.numpy())
# cure: np.clip(exposed, 0.0, 1.0) -> exposed / 10.0
import numpy as np

import gradtape as gt

pixels = np.random.default_rng(0).uniform(0.5, 1.0, size=(6, 6))
gain = gt.Variable(10.0)
with gt.GradientTape() as tape:
    exposed = gain * pixels
    shown = np.clip(exposed, 0.0, 1.0)  # <- here
    loss = np.mean((shown - 0.5) ** 2)
g = tape.gradient(loss, gain)  # <- asked
