"""A convolutional network of LeCun's on a batch of 64 pictures of 28 x 28, in single precision."""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np
import gradtape.scipy.special as special
from gradtape.nn import functional

ARGUMENTS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
ROWS = {"lenet": 64}
SMALL = 2


def initialise(size):
    rng = default_rng(31337)
    shapes = [(6, 1, 5, 5), (6,), (16, 6, 5, 5), (16,), (400, 120), (120,), (120, 84), (84,), (84, 10), (10,)]
    fans = [25, 25, 150, 150, 400, 400, 120, 120, 84, 84]
    weights = [
        (rng.standard_normal(shape) / numpy.sqrt(fan)).astype(numpy.float32)
        for shape, fan in zip(shapes, fans, strict=True)
    ]
    pictures = rng.standard_normal((size, 1, 28, 28)).astype(numpy.float32)
    return [*weights, pictures, rng.integers(0, 10, size)]


def program(k1, c1, k2, c2, w1, b1, w2, b2, w3, b3, x, labels):
    h = functional.max_pool2d(np.maximum(functional.conv2d(x, k1, c1, padding=2), 0.0), 2)
    h = functional.max_pool2d(np.maximum(functional.conv2d(h, k2, c2), 0.0), 2)
    h = h.reshape((len(labels), 400))
    h = np.maximum(h @ w1 + b1, 0.0)
    h = np.maximum(h @ w2 + b2, 0.0)
    log_p = special.log_softmax(h @ w3 + b3, axis=1)
    return -np.mean(log_p[np.arange(len(labels)), labels])


def program_jax(k1, c1, k2, c2, w1, b1, w2, b2, w3, b3, x, labels):
    import jax
    from jax import lax

    def convolve(x, k, c, padding):
        edges = ((padding, padding), (padding, padding))
        y = lax.conv_general_dilated(x, k, (1, 1), edges, dimension_numbers=("NCHW", "OIHW", "NCHW"))
        return jax.nn.relu(y + c[:, None, None])

    def pool(x):
        return lax.reduce_window(x, -numpy.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    h = pool(convolve(pool(convolve(x, k1, c1, 2)), k2, c2, 0)).reshape((len(labels), 400))
    h = jax.nn.relu(h @ w1 + b1)
    h = jax.nn.relu(h @ w2 + b2)
    log_p = jax.nn.log_softmax(h @ w3 + b3)
    return -np.mean(log_p[np.arange(len(labels)), labels])


def program_torch(torch, k1, c1, k2, c2, w1, b1, w2, b2, w3, b3, x, labels):
    layers = torch.nn.functional
    h = layers.max_pool2d(layers.relu(layers.conv2d(x, k1, c1, padding=2)), 2)
    h = layers.max_pool2d(layers.relu(layers.conv2d(h, k2, c2)), 2).reshape((len(labels), 400))
    h = layers.relu(torch.addmm(b1, h, w1))
    h = layers.relu(torch.addmm(b2, h, w2))
    return layers.cross_entropy(torch.addmm(b3, h, w3), labels)
