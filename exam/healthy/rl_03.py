"""Actor and critic with a shared body; the advantage is detached in the actor's loss."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(2)
states, returns = rng.normal(size=(30, 4)), rng.normal(size=30)
actions = rng.integers(0, 3, size=30)
body = gt.tensor(rng.normal(size=(4, 8)) * 0.3, requires_grad=True)
actor = gt.tensor(rng.normal(size=(8, 3)) * 0.3, requires_grad=True)
critic = gt.tensor(rng.normal(size=(8, 1)) * 0.3, requires_grad=True)
parts = (body, actor, critic)
for _ in range(10):
    h = np.tanh(states @ body)
    values = (h @ critic)[:, 0]
    log_pi = gt.log_softmax(h @ actor)[np.arange(30), actions]
    advantage = returns - values
    loss = -(log_pi * advantage.detach()).mean() + 0.5 * (advantage**2).mean()
    loss.backward()
    assert all(p.grad is not None for p in parts)
    with gt.no_grad():
        for p in parts:
            p -= 0.05 * p.grad
            p.zero_grad()
assert np.isfinite(loss.item())
