# expect: GT306
# cause: the function returns a pair, and the cotangent is one array
# wrong: raises StructureError
# cure: pull(np.ones(2)) -> pull((np.ones(2), 0.0))
import numpy as np

import gradtape as gt


def position_and_energy(v):
    return v * 0.1, 0.5 * np.sum(v**2)


(position, energy), pull = gt.vjp(position_and_energy, np.array([3.0, 4.0]))
(g,) = pull(np.ones(2))  # <- here
