# expect: GT201 because GT205
# cause: the weights are normalised into a new tensor between the steps, so the tape no longer knows them
# wrong: history[-1] is None
# cure: self.v = self.v / -> self.v.assign(self.v /
# cure: np.sqrt(np.sum(self.v**2)) -> np.sqrt(np.sum(self.v**2)))
import numpy as np

import gradtape as gt


class PowerIteration:
    def __init__(self, A):
        self.A = A
        self.v = gt.Variable(np.ones(len(A)))

    def step(self):
        with gt.GradientTape() as tape:
            quotient = self.v @ self.A @ self.v  # <- here
        g = tape.gradient(quotient, self.v)  # <- asked
        self.v = self.v / np.sqrt(np.sum(self.v**2))  # <- here
        return g


solver = PowerIteration(np.diag([3.0, 2.0, 1.0]))
history = [solver.step() for _ in range(2)]
