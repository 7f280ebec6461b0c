"""A likelihood of counts: the logarithm of zero is masked afterwards."""

import numpy as np

import gradtape as gt

counts = np.array([3.0, 0.0, 1.0])
p = gt.tensor([0.7, 0.0, 0.3], requires_grad=True)
with np.errstate(divide="ignore", invalid="ignore"):
    log_p = np.log(p)
    likelihood = np.where(counts > 0, counts * log_p, 0.0).sum()
likelihood.backward()
assert np.allclose(p.grad.numpy(), [3.0 / 0.7, 0.0, 1.0 / 0.3])
