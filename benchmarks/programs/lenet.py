"""LeNet-5 in NumPy: convolutions over windows, pooling into buffers, three dense layers.

Recognition of digits as courses write it.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (1, 2, 3, 4, 5)
SMALL = (1, 12, 2, 2, 6, 5)
PAPER = (8, 28, 6, 16, 120, 84)


def initialise(size):
    batch, side, first, second, third, fourth = size
    rng = default_rng(27)
    after = ((side - 4) // 2 - 2) // 2

    def drawn(*shape):
        return rng.standard_normal(shape) / numpy_sqrt(shape[:-1])

    return (
        rng.random((batch, side, side, 1)),
        drawn(5, 5, 1, first),
        drawn(3, 3, first, second),
        drawn(after * after * second, third),
        drawn(third, fourth),
        drawn(fourth, 10),
    )


def numpy_sqrt(shape):
    product = 1
    for n in shape:
        product *= n
    return product**0.5


def relu(x):
    return np.maximum(x, 0.0)


def conv2d(images, weights):
    K = weights.shape[0]
    height, width = images.shape[1] - K + 1, images.shape[2] - K + 1
    output = np.zeros((images.shape[0], height, width, weights.shape[3]))
    for i in range(K):
        for j in range(K):
            output += images[:, i : i + height, j : j + width, :] @ weights[i, j]
    return output


def maxpool2d(x):
    output = np.empty((x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]))
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            output[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return output


def program(images, conv1, conv2, dense1, dense2, dense3):
    x = maxpool2d(relu(conv2d(images, conv1)))
    x = maxpool2d(relu(conv2d(x, conv2)))
    x = np.reshape(x, (x.shape[0], -1))
    x = relu(x @ dense1)
    x = relu(x @ dense2)
    x = x @ dense3
    return np.mean(np.log(np.sum(np.exp(x), axis=1)) - x[:, 3])
