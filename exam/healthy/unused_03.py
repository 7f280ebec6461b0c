"""A frozen layer is left out of the sources; the others are trained."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(3)
body, head = gt.nn.Linear(3, 4).initialise(rng), gt.nn.Linear(4, 1).initialise(rng)
X, y = rng.normal(size=(12, 3)), rng.normal(size=(12, 1))
losses = []
for _ in range(20):
    with gt.GradientTape() as tape:
        loss = np.mean((head(np.tanh(body(X))) - y) ** 2)
    for p, g in zip(head.parameters(), tape.gradient(loss, head.parameters())):
        p.assign_sub(0.1 * g)
    losses.append(loss.item())
assert losses[-1] < losses[0]
