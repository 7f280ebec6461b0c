# expect: GT201 because GT204
# cause: x is watched after y has been computed from it
# wrong: g is None
# cure: y = np.sum(np.sin(x))  # <- here\n    tape.watch(x) -> tape.watch(x)\n    y = np.sum(np.sin(x))
import numpy as np

import gradtape as gt

x = gt.tensor(np.linspace(0, 1, 5))
with gt.GradientTape() as tape:
    y = np.sum(np.sin(x))  # <- here
    tape.watch(x)  # <- here
g = tape.gradient(y, x)  # <- asked
