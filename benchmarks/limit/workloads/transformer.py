"""A block of a transformer: attention of four heads and a network with GELU, 8 x 128 tokens of 128 numbers, float32."""

import math

import numpy
from numpy.random import default_rng

import gradtape.numpy as np
import gradtape.scipy.special as special

ARGUMENTS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
ROWS = {"transformer": (8, 128, 128)}
SMALL = (2, 5, 16)
HEADS = 4


def initialise(size):
    batch, length, width = size
    rng = default_rng(31337)

    def single(array):
        return numpy.asarray(array, dtype=numpy.float32)

    return [
        single(1.0 + 0.1 * rng.standard_normal(width)),
        single(0.1 * rng.standard_normal(width)),
        single(rng.standard_normal((width, 3 * width)) / math.sqrt(width)),
        single(rng.standard_normal((width, width)) / math.sqrt(width)),
        single(1.0 + 0.1 * rng.standard_normal(width)),
        single(0.1 * rng.standard_normal(width)),
        single(rng.standard_normal((width, 4 * width)) / math.sqrt(width)),
        single(0.1 * rng.standard_normal(4 * width)),
        single(rng.standard_normal((4 * width, width)) / math.sqrt(4 * width)),
        single(0.1 * rng.standard_normal(width)),
        single(rng.standard_normal((batch, length, width))),
        single(rng.standard_normal((batch, length, width))),
    ]


def normalise(x, scale, shift):
    centred = x - np.mean(x, axis=-1, keepdims=True)
    return centred / np.sqrt(np.mean(centred * centred, axis=-1, keepdims=True) + 1e-5) * scale + shift


def attend(x, qkv, projection):
    batch, length, width = x.shape
    each = width // HEADS
    parts = (x @ qkv).reshape((batch, length, 3, HEADS, each)).transpose((2, 0, 3, 1, 4))
    q, k, v = parts[0], parts[1], parts[2]
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(each)
    powers = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    mixed = (powers / np.sum(powers, axis=-1, keepdims=True)) @ v
    return mixed.transpose((0, 2, 1, 3)).reshape((batch, length, width)) @ projection


def program(s1, t1, qkv, projection, s2, t2, w1, b1, w2, b2, x, target):
    x = x + attend(normalise(x, s1, t1), qkv, projection)
    h = normalise(x, s2, t2) @ w1 + b1
    h = 0.5 * h * (1.0 + special.erf(h / math.sqrt(2.0)))
    x = x + h @ w2 + b2
    return np.mean((x - target) ** 2)


def program_torch(torch, s1, t1, qkv, projection, s2, t2, w1, b1, w2, b2, x, target):
    layers = torch.nn.functional
    batch, length, width = x.shape
    y = layers.layer_norm(x, (width,), s1, t1)
    parts = (y @ qkv).reshape((batch, length, 3, HEADS, width // HEADS)).permute((2, 0, 3, 1, 4))
    mixed = layers.scaled_dot_product_attention(parts[0], parts[1], parts[2])
    x = x + mixed.transpose(1, 2).reshape((batch, length, width)) @ projection
    h = layers.gelu(layers.layer_norm(x, (width,), s2, t2) @ w1 + b1)
    x = x + h @ w2 + b2
    return torch.mean((x - target) ** 2)
