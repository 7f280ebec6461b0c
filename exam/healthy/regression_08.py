"""Several outputs with several weights each, and weight decay over all parameters."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(6)
X, Y = rng.normal(size=(40, 5)), rng.normal(size=(40, 3))
params = {"w": gt.Variable(np.zeros((5, 3))), "b": gt.Variable(np.zeros(3)), "scale": gt.Variable(1.0)}


def step():
    with gt.GradientTape() as tape:
        pred = params["scale"] * (X @ params["w"]) + params["b"]
        loss = np.mean((pred - Y) ** 2) + 1e-3 * sum(np.sum(p**2) for p in params.values())
    for p, g in zip(params.values(), tape.gradient(loss, params).values(), strict=True):
        p.assign_sub(0.1 * g)
    return float(loss)


history = [step() for _ in range(30)]
assert history[-1] < history[0]
