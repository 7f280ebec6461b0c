"""Low rank approximation; the sum of the largest eigenvalues has the projector as its gradient."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
A = rng.normal(size=(5, 5))
A = A + A.T
top = lambda M: np.sum(np.linalg.eigvalsh(M)[-2:])
g = gt.grad(top)(A)
vectors = np.linalg.eigh(A)[1][:, -2:]
assert np.allclose(g, vectors @ vectors.T)
