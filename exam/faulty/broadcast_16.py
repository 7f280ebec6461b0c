# expect: GT101
# cause: the best next value keeps its axis, (16, 1), and meets the rewards (16,): a table of targets, made off the tape
# wrong: target.shape == (16, 16)
# cure: rewards + 0.9 * best -> rewards + 0.9 * best[:, 0]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(3)
states, following = rng.normal(size=(16, 4)), rng.normal(size=(16, 4))
actions, rewards = rng.integers(0, 3, 16), rng.normal(size=16)
W = gt.Variable(rng.normal(size=(4, 3)))
frozen = W.numpy().copy()
for _ in range(3):
    with gt.GradientTape() as tape:
        value = (states @ W)[np.arange(16), actions]
        best = np.max(following @ frozen, axis=1, keepdims=True)
        target = rewards + 0.9 * best  # <- here
        loss = np.mean((target - value) ** 2)
    W.assign_sub(0.1 * tape.gradient(loss, W))
