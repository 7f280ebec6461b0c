"""A differential equation by its residual: the second derivative of a network in its input."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
p0 = {"w": rng.normal(size=6), "b": rng.normal(size=6), "v": rng.normal(size=6) * 0.3}
points = np.linspace(0, 1, 8)


def network(x, p):
    return np.sum(p["v"] * np.tanh(p["w"] * x + p["b"]))


curvature = gt.grad(gt.grad(network))


def loss(p):
    residual = gt.vmap(lambda x: curvature(x, p) + network(x, p))(points)
    ends = (network(0.0, p) - 0.0) ** 2 + (network(1.0, p) - np.sin(1.0)) ** 2
    return np.mean(residual**2) + ends


p, values = p0, []
for _ in range(8):
    value, g = gt.value_and_grad(loss)(p)
    p = {k: p[k] - 0.02 * g[k] for k in p}
    values.append(float(value))
assert values[-1] < values[0]
