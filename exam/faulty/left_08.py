# expect: GT210
# cause: the energies are numbers, filled into a NumPy array inside a function
# wrong: abs(float(g) - 7.0) > 1e-6
# cure: np.zeros(3) -> gt.zeros(3)
import numpy as np

import gradtape as gt

lengths = np.array([1.0, 2.0, 3.0])


def energies(stiffness):
    found = np.zeros(3)
    for i in range(3):
        found[i] = 0.5 * stiffness * lengths[i] ** 2  # <- here
    return found


k = gt.Variable(0.7)
with gt.GradientTape() as tape:
    loss = energies(k).sum() + 0.0 * k
g = tape.gradient(loss, k)  # <- asked
