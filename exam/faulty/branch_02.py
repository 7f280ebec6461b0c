# expect: GT403
# cause: the logarithm is computed for a group without counts as well, and only then masked
# wrong: np.isnan(p.grad.numpy()).any()
# cure: np.log(p) -> np.log(np.where(counts > 0, p, 1.0))
import numpy as np

import gradtape as gt

counts = np.array([0.0, 0.0, 0.0])
p = gt.tensor([0.7, 0.0, 0.3], requires_grad=True)
with np.errstate(divide="ignore", invalid="ignore"):
    log_p = np.log(p)  # <- here
    likelihood = np.where(counts.sum() > 0, counts @ log_p, 0.0)  # <- here
likelihood.backward()
