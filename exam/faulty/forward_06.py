# expect: GT401
# cause: the time step is far too large, so that the state of the ODE overflows on the way
# wrong: not np.isfinite(final.item())
# cure: dt = 5.0 -> dt = 0.1
import numpy as np

import gradtape as gt

dt = 5.0
growth = gt.Variable(3.0)
with gt.GradientTape() as tape:
    state = gt.tensor(2.0) * 1.0
    for _ in range(14):
        state = state + dt * growth * state * (1.0 - state)  # <- here
    final = state
g = tape.gradient(final, growth)
print(np.isfinite(g.numpy()))
