"""A frozen feature extractor: only the head is trainable, and only its gradients are asked for."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
backbone = gt.Variable(rng.normal(size=(5, 8)), trainable=False)
head = gt.Variable(np.zeros((8, 1)))
X, y = rng.normal(size=(30, 5)), rng.normal(size=(30, 1))
history = []
for _ in range(30):
    with gt.GradientTape() as tape:
        loss = np.mean((np.tanh(X @ backbone) @ head - y) ** 2)
    head.assign_sub(0.1 * tape.gradient(loss, tape.watched_variables())[0])
    history.append(float(loss))
assert len(tape.watched_variables()) == 1
assert history[-1] < history[0]
