# expect: GT114
# cause: the parameter vector has 9 numbers; the layer of 3 x 3 weights with 3 biases needs 12
# wrong: raises ValueError
# cure: np.zeros(9) -> np.zeros(12)
import numpy as np
from scipy.optimize import minimize

import gradtape as gt

X = np.random.default_rng(1).normal(size=(20, 3))
Y = np.tanh(X)


def unpack(theta):
    W, b = theta[:9].reshape(3, 3), theta[9:].reshape(1, 3)  # <- here
    return W, b


def objective(theta):
    W, b = unpack(theta)
    return np.mean((np.tanh(X @ W + b) - Y) ** 2)


result = minimize(gt.value_and_grad(objective), np.zeros(9), jac=True, options={"maxiter": 3})
