# expect: GT210
# cause: the property gives a float, so the rest length gets no gradient
# wrong: g[1] == 0
# cure: return float(self._rest) -> return self._rest
import numpy as np

import gradtape as gt


class Spring:
    def __init__(self, k, rest):
        self.k, self._rest = k, rest

    @property
    def rest(self):
        return float(self._rest)  # <- here

    def energy(self, x):
        return 0.5 * self.k * (x - self.rest) ** 2


def total(p):
    spring = Spring(p[0], p[1])
    return spring.energy(1.3) + spring.energy(0.4)


g = gt.grad(total)(np.array([10.0, 1.0]))
print(g)
