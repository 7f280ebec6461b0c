# expect: GT405
# cause: two stiffnesses are equal, so the eigenvectors are not unique and have no derivative
# wrong: raises LinearAlgebraError
# cure: np.array([2.0, 2.0, 5.0]) -> np.array([2.0, 2.5, 5.0])
import numpy as np

import gradtape as gt


def first_mode_at_end(stiffness):
    modes = np.linalg.eigh(np.diag(stiffness))[1]  # <- here
    return np.sum(modes[:, 0] * np.arange(3.0))


g = gt.grad(first_mode_at_end)(np.array([2.0, 2.0, 5.0]))  # <- asked
