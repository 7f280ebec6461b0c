# expect: GT201 because GT202
# says: offset
# says: computed from gain
# cause: the offset gets no gradient, and its step multiplies None
# wrong: raises TypeError
# cure: gain * u -> gain * u + offset
import numpy as np

import gradtape as gt

u = np.linspace(0.0, 2.0, 15)
goal = 3.0 * u + 1.0
gain, offset = gt.Variable(1.0), gt.Variable(0.0)
for _ in range(3):
    with gt.GradientTape() as tape:
        loss = np.mean((gain * u - goal) ** 2)  # <- here
    d_gain, d_offset = tape.gradient(loss, [gain, offset])  # <- asked
    gain.assign_sub(0.1 * d_gain)
    offset.assign_sub(0.1 * d_offset)  # <- here
