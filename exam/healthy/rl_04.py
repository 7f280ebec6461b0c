"""PPO: the ratio starts at exactly 1, and some of it is clipped later."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(3)
states, actions = rng.normal(size=(20, 3)), rng.integers(0, 2, size=20)
advantage = rng.normal(size=20)
W = gt.Variable(rng.normal(size=(3, 2)))
log_pi = lambda: gt.log_softmax(states @ W)[np.arange(20), actions]
old = log_pi().numpy()
values = []
for _ in range(10):
    with gt.GradientTape() as tape:
        ratio = np.exp(log_pi() - old)
        surrogate = np.minimum(ratio * advantage, np.clip(ratio, 0.8, 1.2) * advantage).mean()
        loss = -surrogate
    W.assign_sub(1.0 * tape.gradient(loss, W))
    values.append(float(surrogate))
assert values[-1] > values[0]
