# expect: GT201 because GT202
# says: gates
# says: values
# cause: the gate is computed and overwritten by the next line, so its matrix reaches nothing
# wrong: g is None
# cure: mixed = x @ values -> mixed = gate * (x @ values)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(2)
x = rng.normal(size=(6, 3))
gates, values = gt.Variable(rng.normal(size=(3, 4))), gt.Variable(rng.normal(size=(3, 4)))

with gt.GradientTape() as tape:
    gate = gt.sigmoid(x @ gates)
    mixed = x @ values
    loss = np.mean(mixed**2)  # <- here
g = tape.gradient(loss, gates)  # <- here
