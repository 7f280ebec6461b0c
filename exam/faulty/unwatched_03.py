# expect: GT201 because GT203
# cause: requires_grad=True is for .backward(); the tape does not watch such a tensor by itself
# wrong: force is None
# cure: as tape:\n        return -> as tape:\n        tape.watch(positions)\n        return
import numpy as np

import gradtape as gt


def energy(positions):
    global tape
    with gt.GradientTape() as tape:
        return np.sum(1.0 / (positions[1:] - positions[:-1]) ** 2)  # <- here


positions = gt.tensor([0.0, 1.0, 2.5], requires_grad=True)  # <- here
potential = energy(positions)
force = tape.gradient(potential, positions)  # <- asked
