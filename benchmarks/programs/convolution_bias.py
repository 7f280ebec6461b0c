"""A convolution layer with a bias, written with loops over the pixels of the result.

Neural networks written out in NumPy.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1, 2)
SMALL = (2, 5, 2, 3, 3)
PAPER = (8, 20, 3, 3, 16)


def initialise(size):
    batch, side, channels, kernel, filters = size
    rng = default_rng(25)
    return (
        rng.random((batch, side, side, channels)),
        rng.standard_normal((kernel, kernel, channels, filters)),
        rng.standard_normal(filters),
    )


def program(images, weights, bias):
    K = weights.shape[0]
    height, width = images.shape[1] - K + 1, images.shape[2] - K + 1
    output = np.empty((images.shape[0], height, width, weights.shape[3]))
    for i in range(height):
        for j in range(width):
            output[:, i, j, :] = np.sum(
                images[:, i : i + K, j : j + K, :, None] * weights[None, :, :, :], axis=(1, 2, 3)
            )
    return np.mean(np.maximum(output + bias, 0.0) ** 2)
