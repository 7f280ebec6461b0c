"""Random numbers: the generators of NumPy, Python and gradtape are in the same state after each gradient."""

import hashlib
import random

import numpy as np

import gradtape as gt


def states():
    legacy = np.random.get_state()
    text = repr((random.getstate(), legacy[1].tolist(), legacy[2:], rng.bit_generator.state))
    return hashlib.sha256(text.encode()).hexdigest()


random.seed(3)
np.random.seed(4)
rng = np.random.default_rng(5)
print(states())
w = gt.Variable(rng.normal(size=(3, 3)))
for _ in range(3):
    with gt.GradientTape() as tape:
        noise = gt.random.normal(rng, 0.0, 1.0, (4, 3))
        loss = np.mean(np.tanh(noise @ w * 30.0) ** 2)
    gradient = tape.gradient(loss, w)
    print(repr(float(loss)), gradient.numpy().tolist(), states())


def noisy(x):
    return np.sum(np.sqrt(x) * gt.random.normal(rng, x, 1.0))


step = gt.jit(gt.value_and_grad(noisy))
for _ in range(3):
    print(step(np.array([1.0, 2.0])), states(), step.stats)


def drawing(x):
    return np.sum(x * random.random() + np.random.rand())


drawn = gt.jit(gt.grad(drawing))
for _ in range(2):
    print(drawn(np.ones(2)), states(), drawn.stats)
print(random.random(), np.random.rand(), rng.random())
