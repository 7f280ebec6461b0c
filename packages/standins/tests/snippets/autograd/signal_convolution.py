"""Convolution over chosen axes."""

import autograd.numpy as np
from autograd import grad
from autograd.scipy.signal import convolve

a = np.arange(12.0).reshape(3, 4) / 10
b = np.array([[1.0, -1.0], [0.5, 2.0]])
print(convolve(a, b))
print(convolve(a, b, mode="valid"))
print(convolve(a, b, axes=[(1,), (1,)], dot_axes=[(), ()], mode="valid").shape)
print(convolve(a, b[:, :1].repeat(3, 1).T[:, :2], axes=[(1,), (1,)], dot_axes=[(0,), (0,)], mode="full"))
print(grad(lambda b: np.sum(convolve(a, b, mode="valid") ** 2))(b))
images, filters = np.arange(32.0).reshape(2, 4, 4), np.ones((3, 2, 2))
out = convolve(images, filters, axes=[(1, 2), (1, 2)], mode="valid")
print(out.shape, out[1, 2])
