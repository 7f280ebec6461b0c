"""Indexing, joining and reshaping inside the function."""

import autograd.numpy as np
from autograd import grad

x = np.arange(6.0).reshape(2, 3)
print(grad(lambda x: np.sum(x[:, [0, 2, 2]] ** 2))(x))
print(grad(lambda x: np.sum(x[x > 2.5] * 3))(x))
print(grad(lambda x: np.sum(np.concatenate([x.T, x.T * 2], axis=1)[1]))(x))
print(grad(lambda x: np.sum(np.array([x[0], 2 * x[1]]) ** 2))(x))
print(grad(lambda x: np.sum(np.stack([x, x**2])[1] * np.where(x > 3, x, 0.0)))(x))
print(grad(lambda x: np.max(x, axis=0) @ np.sort(x[0])[::-1])(x))
print(grad(lambda x: np.sum(np.einsum("ij,kj->ik", x, x)))(x))
print(grad(lambda x: np.sum(np.tile(x, (2, 1)) * np.repeat(x, 2, axis=0)))(x))
print(grad(lambda x: np.sum(np.cumsum(x, axis=1) * np.roll(x, 1, axis=0)))(x))
print(grad(lambda x: np.std(x) + np.var(x, axis=1)[0] + np.prod(x[1]))(x))
print(grad(lambda x: np.sum(np.vstack([x, np.hstack([x[0], x[1]]).reshape(2, 3)]) ** 2))(x))
print(grad(lambda v: np.sum(np.r_[v, 2 * v] * np.arange(4.0)))(np.array([1.0, 2.0])))
print(grad(lambda x: np.sum(np.pad(x, 1, "constant") ** 2) + np.trace(x @ x.T))(x))
