"""A frozen copy is updated by a moving average with assign, inside the tape of the online network."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(11)
x = rng.normal(size=(16, 3))
online, slow = gt.Variable(rng.normal(size=(3, 2))), gt.Variable(np.zeros((3, 2)), trainable=False)
values = []
for _ in range(15):
    with gt.GradientTape() as tape:
        slow.assign(0.9 * slow + 0.1 * online)
        loss = np.mean((x @ online - gt.stop_gradient(x @ slow)) ** 2)
    online.assign_sub(0.1 * tape.gradient(loss, online))
    values.append(loss.item())
assert values[-1] < values[0]
