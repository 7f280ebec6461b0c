# expect: GT511
# cause: an optimiser that reads .grad, which nobody clears between its steps
# wrong: abs(float(rate.numpy()) - 2.0) > 0.02
# cure: \n    optimiser.step([rate]) -> \n    optimiser.step([rate]); rate.zero_grad()
import numpy as np

import gradtape as gt

t = np.linspace(0.0, 1.0, 20)
seen = np.exp(-2.0 * t)
rate = gt.Variable(0.5).requires_grad_()
optimiser = gt.optim.SGD(1.0)


def fit():
    error = np.exp(-rate * t) - seen
    (error @ error).backward()  # <- here
    optimiser.step([rate])  # <- here


for _ in range(50):
    fit()
