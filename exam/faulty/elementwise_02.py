# expect: GT110
# cause: the forecast starts at the third sample and the data was not shifted with it: 98 against 100
# wrong: raises ShapeError
# cure: pred - series) -> pred - series[2:])
import numpy as np

import gradtape as gt

series = np.cumsum(np.random.default_rng(1).normal(size=100))


def ar2_loss(phi):
    pred = phi[0] * series[1:-1] + phi[1] * series[:-2]
    return np.mean((pred - series) ** 2)  # <- here


print(gt.value_and_grad(ar2_loss)(np.array([0.5, 0.1])))
