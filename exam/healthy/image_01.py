"""A convolution written with slices; a kernel is recovered from its result."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
image = rng.normal(size=(10, 10))
true = np.array([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]])


def convolve(kernel):
    return sum(kernel[i, j] * image[i : i + 8, j : j + 8] for i in range(3) for j in range(3))


target = convolve(true)
kernel = np.zeros((3, 3))
for _ in range(80):
    kernel = kernel - 0.3 * gt.grad(lambda k: np.mean((convolve(k) - target) ** 2))(kernel)
assert np.allclose(kernel, true, atol=1e-2)
