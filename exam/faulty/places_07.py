# expect: GT402
# cause: in a class's property, the norm of the zero initial velocity is taken by a square root
# wrong: np.isnan(force).any()
# cure: np.sqrt(self.v @ self.v) -> np.sqrt(self.v @ self.v + 1e-12)
import numpy as np

import gradtape as gt


class Body:
    def __init__(self, v):
        self.v = v

    @property
    def speed(self):
        return np.sqrt(self.v @ self.v)  # <- here

    def drag_power(self):
        return 0.1 * self.speed**2 + self.speed


force = gt.grad(lambda v: Body(v).drag_power())(np.zeros(3))
