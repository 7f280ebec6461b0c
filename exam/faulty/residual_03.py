# expect: GT102
# cause: the readout has one column, so one number is compared with all ten future steps
# wrong: forecast.shape == (8, 1)
# cure: size=(20, 1) -> size=(20, 10)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(2)
history = rng.normal(size=(8, 20))
future = rng.normal(size=(8, 10))


def loss(theta, readout):
    forecast = np.tanh(history * theta[0] + theta[1]) @ readout
    return np.abs(forecast - future).mean(), forecast  # <- here


start = np.array([0.5, 0.1]), rng.normal(size=(20, 1))
gradient, forecast = gt.grad(loss, argnums=(0, 1), has_aux=True)(*start)
