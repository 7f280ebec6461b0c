# expect: GT307
# cause: sum(axis=0) leaves one loss for each of the two outputs
# wrong: raises ShapeError
# cure: .sum(axis=0) -> .sum()
import numpy as np

import gradtape as gt

X = np.random.default_rng(1).normal(size=(6, 3))


class Model:
    def __init__(self):
        self.w = gt.tensor(np.ones((3, 2)), requires_grad=True)

    def train_step(self):
        loss = (np.tanh(X @ self.w) ** 2).sum(axis=0)  # <- here
        loss.backward()  # <- here
        return loss


Model().train_step()
