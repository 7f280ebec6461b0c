# expect: GT405
# cause: a point is in the data twice, so the kernel matrix without jitter is not positive definite
# wrong: raises LinearAlgebraError
# cure: length) ** 2) -> length) ** 2) + 1e-6 * np.eye(4)
import numpy as np

import gradtape as gt

x = np.array([0.5, 0.5, 0.0, 1.0])


def log_determinant(length):
    K = np.exp(-0.5 * ((x[:, None] - x) / length) ** 2)
    L = np.linalg.cholesky(K)  # <- here
    return 2.0 * np.sum(np.log(np.diagonal(L)))


g = gt.grad(log_determinant)(0.7)  # <- asked
