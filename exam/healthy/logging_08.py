"""A class keeps the losses as floats, which nothing of the loss is computed from."""

import numpy as np

import gradtape as gt


class Trainer:
    def __init__(self):
        self.losses, self.best = [], np.inf

    def log(self, loss):
        self.losses.append(float(loss))
        self.best = min(self.best, float(loss))


trainer = Trainer()
w = gt.Variable(np.ones(3))
X = np.random.default_rng(0).normal(size=(10, 3))
for _ in range(4):
    with gt.GradientTape() as tape:
        loss = np.mean((X @ w - 1.0) ** 2)
        trainer.log(loss)
        total = loss + 0.01 * np.sum(w**2)
    w.assign_sub(0.1 * tape.gradient(total, w))
print(trainer.best, np.mean(trainer.losses))
assert trainer.best == trainer.losses[-1] < trainer.losses[0]
