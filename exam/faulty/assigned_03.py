# expect: GT201 because GT206
# cause: the running average is assigned inside the tape, and the loss reads the average only
# wrong: all(g is None for g in grads)
# cure: self.average.assign(0.9 -> self.average = (0.9
import numpy as np

import gradtape as gt


class Tracker:
    def __init__(self):
        self.kernel = gt.Variable(np.eye(3) * 0.5)
        self.average = gt.Variable(np.zeros(3), name="average")

    def __call__(self, x):
        out = np.tanh(x @ self.kernel)
        self.average.assign(0.9 * self.average + 0.1 * out.mean(axis=0))  # <- here
        return self.average


x = np.random.default_rng(0).normal(size=(7, 3))
tracker = Tracker()
with gt.GradientTape() as tape:
    loss = np.sum((tracker(x) - 1.0) ** 2)
grads = tape.gradient(loss, [tracker.kernel])  # <- asked
