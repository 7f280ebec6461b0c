# expect: GT111
# cause: the right-hand side has 4 rows and the matrix is 3 x 3
# wrong: raises ValueError
# cure: np.arange(4.0) -> np.arange(3.0)
import numpy as np

import gradtape as gt


def energy(stiffness):
    K = np.diag(2.0 * stiffness) - np.eye(3, k=1) - np.eye(3, k=-1)
    load = np.arange(4.0)
    displacement = np.linalg.solve(K, load)  # <- here
    return 0.5 * np.sum(load * displacement)


print(gt.grad(energy)(np.array([2.0, 2.5, 3.0])))
