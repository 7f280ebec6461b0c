# expect: GT101
# cause: with keyword arguments in np.subtract, the column of outputs meets the vector of measurements
# wrong: delta.shape == (18, 18)
# cure: np.subtract(net(u), measured) -> np.subtract(net(u)[:, 0], measured)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(3)
u, measured = rng.normal(size=(18, 2)), rng.normal(size=18)
theta = gt.Variable(rng.normal(size=(2, 1)))


def net(inputs, *, activation=np.tanh):
    return activation(inputs @ theta)


with gt.GradientTape(persistent=True) as tape:
    delta = np.subtract(net(u), measured)  # <- here
    cost = np.vdot(delta, delta) / delta.size
g = tape.gradient(cost, theta)
