"""Gradients of matrix functions."""

import autograd.numpy as np
import autograd.numpy.linalg as npla
from autograd import grad

A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
b = np.array([1.0, 2.0, 3.0])
print(grad(npla.det)(A))
print(grad(lambda A: npla.slogdet(A)[1])(A))
print(grad(lambda A: np.sum(npla.inv(A)))(A))
print(grad(lambda b: np.dot(b, npla.solve(A, b)))(b))
print(grad(lambda A: np.sum(npla.cholesky(A @ A.T)[-1]))(A))
print(grad(lambda A: npla.norm(A))(A))
print(grad(lambda A: np.sum(npla.eigh(A)[0] ** 2))(A))
print(grad(lambda A: np.sum(npla.svd(A[:2], full_matrices=False)[1]))(A))
print(grad(lambda A: np.sum(npla.pinv(A[:, :2])))(A))
