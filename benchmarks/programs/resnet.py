"""A bottleneck block of a residual network with batch normalisation, in NumPy.

Image networks written out; the padding is a buffer whose middle is written.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1, 2, 3)
SMALL = (2, 4, 3, 2)
PAPER = (8, 14, 32, 16)


def initialise(size):
    batch, side, wide, narrow = size
    rng = default_rng(28)
    return (
        rng.random((batch, side, side, wide)),
        rng.standard_normal((1, 1, wide, narrow)),
        rng.standard_normal((3, 3, narrow, narrow)),
        rng.standard_normal((1, 1, narrow, wide)),
    )


def conv2d(x, weights):
    K = weights.shape[0]
    height, width = x.shape[1] - K + 1, x.shape[2] - K + 1
    output = np.zeros((x.shape[0], height, width, weights.shape[3]))
    for i in range(K):
        for j in range(K):
            output += x[:, i : i + height, j : j + width, :] @ weights[i, j]
    return output


def batch_norm(x, eps=1e-5):
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std**2 + eps + 0.1)


def relu(x):
    return np.maximum(x, 0.0)


def program(x, conv1, conv2, conv3):
    padded = np.zeros((x.shape[0], x.shape[1] + 2, x.shape[2] + 2, conv1.shape[3]))
    padded[:, 1:-1, 1:-1, :] = conv2d(x, conv1)
    y = relu(batch_norm(padded))
    y = relu(batch_norm(conv2d(y, conv2)))
    y = batch_norm(conv2d(y, conv3))
    return np.mean(relu(y + x) ** 2)
