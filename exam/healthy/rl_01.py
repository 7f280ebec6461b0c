"""REINFORCE on a bandit with a running baseline."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
rewards = np.array([0.1, 0.9, 0.3])
logits = gt.Variable(np.zeros(3))
baseline = 0.0
for _ in range(150):
    p = gt.softmax(logits).numpy()
    action = int(rng.choice(3, p=p / p.sum()))
    reward = rewards[action] + 0.1 * rng.normal()
    with gt.GradientTape() as tape:
        loss = -(reward - baseline) * gt.log_softmax(logits)[action]
    logits.assign_sub(0.5 * tape.gradient(loss, logits))
    baseline = 0.9 * baseline + 0.1 * reward
assert np.argmax(logits.numpy()) == 1
