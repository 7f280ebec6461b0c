"""Q learning: the target is computed with the same weights behind stop_gradient."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
obs, nxt = rng.normal(size=(2, 40, 3))
actions = rng.integers(0, 2, size=40)
rewards = obs[:, 0]
W = gt.Variable(np.zeros((3, 2)))
errors = []
for _ in range(80):
    with gt.GradientTape() as tape:
        q = (obs @ W)[np.arange(40), actions]
        target = rewards + 0.5 * gt.stop_gradient((nxt @ W).max(axis=1))
        loss = np.mean((q - target) ** 2)
    W.assign_sub(0.1 * tape.gradient(loss, W))
    errors.append(loss.item())
assert errors[-1] < errors[0]
