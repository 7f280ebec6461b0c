# expect: GT210
# cause: the denominator is computed from the same parameters and leaves as float(), so its part is missing
# wrong: not np.allclose(g.numpy(), 0.0)
# cure: float(np.sum(v**2)) -> np.sum(v**2)
import numpy as np

import gradtape as gt

A = np.diag([2.0, 2.0])
v = gt.Variable([0.6, 0.8])
with gt.GradientTape() as tape:
    numerator = v @ A @ v
    denominator = float(np.sum(v**2))  # <- here
    rayleigh = numerator / denominator  # <- here
g = tape.gradient(rayleigh, v)  # <- asked
