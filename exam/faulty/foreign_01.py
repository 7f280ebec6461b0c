# expect: GT312
# cause: SciPy's logsumexp is no ufunc: it computes with bare arrays
# wrong: raises DetachError
# cure: special.logsumexp -> gt.special.logsumexp
import numpy as np
from scipy import special

import gradtape as gt

scores = np.random.default_rng(0).normal(size=(20, 3))


def evidence(weights):
    return np.sum(special.logsumexp(scores + weights, axis=1))  # <- here


print(gt.grad(evidence)(np.zeros(3)))
