"""A class with parameters in a nested structure, Adam by hand, and a schedule of the learning rate."""

from itertools import pairwise

import numpy as np

import gradtape as gt


class Net:
    def __init__(self, sizes, rng):
        self.layers = [{"w": rng.normal(size=(a, b)) / np.sqrt(a), "b": np.zeros(b)} for a, b in pairwise(sizes)]

    @staticmethod
    def apply(layers, x):
        for layer in layers[:-1]:
            x = np.tanh(x @ layer["w"] + layer["b"])
        return x @ layers[-1]["w"] + layers[-1]["b"]


rng = np.random.default_rng(2)
x = rng.uniform(-2, 2, size=(50, 1))
y = np.sin(x)
net = Net([1, 10, 10, 1], rng)
step = gt.value_and_grad(lambda layers: np.mean((Net.apply(layers, x) - y) ** 2))
flat = lambda layers: [layer[k] for layer in layers for k in ("w", "b")]
m = [np.zeros_like(p) for p in flat(net.layers)]
v = [np.zeros_like(p) for p in flat(net.layers)]
losses = []
for t in range(1, 81):
    value, grads = step(net.layers)
    losses.append(float(value))
    for i, (p, g) in enumerate(zip(flat(net.layers), flat(grads), strict=True)):
        m[i] = 0.9 * m[i] + 0.1 * g
        v[i] = 0.999 * v[i] + 0.001 * g**2
        p -= 0.02 * 0.99**t * (m[i] / (1 - 0.9**t)) / (np.sqrt(v[i] / (1 - 0.999**t)) + 1e-8)
assert losses[-1] < 0.1 * losses[0]
