"""Several tasks, one of them without data today: its head is unused, and zeros are asked for."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(6)
body = gt.Variable(rng.normal(size=(4, 6)))
heads = {name: gt.Variable(rng.normal(size=(6, 1))) for name in ("depth", "normals", "edges")}
batch = {"depth": rng.normal(size=(8, 1)), "normals": rng.normal(size=(8, 1))}
x = rng.normal(size=(8, 4))
with gt.GradientTape() as tape:
    h = np.tanh(x @ body)
    loss = sum(np.mean((h @ heads[task] - target) ** 2) for task, target in batch.items())
grads = tape.gradient(loss, {"body": body, **heads}, unconnected_gradients="zero")
assert not np.any(grads["edges"].numpy())
assert np.any(grads["depth"].numpy())
