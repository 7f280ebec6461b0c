# expect: GT302
# cause: the backward rule returns the mean over the batch instead of a gradient for each example
# wrong: raises RuleError
# cure: np.mean(g * (z > 0), axis=0) -> g * (z > 0)
import numpy as np

import gradtape as gt


@gt.custom_vjp
def hard_relu(z):
    return np.maximum(z, 0.0)


def forward(z):
    return hard_relu(z), z


def backward(z, g):  # <- here
    return (np.mean(g * (z > 0), axis=0),)  # <- here


hard_relu.defvjp(forward, backward)

X = np.random.default_rng(0).normal(size=(25, 16))
loss = lambda w: np.sum(hard_relu(X @ w).reshape(-1) ** 2)  # <- asked
print(gt.grad(loss)(np.eye(16)).shape)  # <- asked
