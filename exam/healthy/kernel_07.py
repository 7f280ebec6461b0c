"""Kernel ridge regression, in which training and test set have the same number of points."""

import numpy as np

import gradtape as gt

train, test = np.linspace(0, 1, 12), np.linspace(0.04, 0.96, 12)
y_train, y_test = np.sin(6 * train), np.sin(6 * test)
rbf = lambda a, b, length: np.exp(-(((a[:, None] - b[None, :]) / length) ** 2))


def validation_error(log_length):
    length = np.exp(log_length)
    alpha = np.linalg.solve(rbf(train, train, length) + 1e-3 * np.eye(12), y_train)
    return np.mean((rbf(test, train, length) @ alpha - y_test) ** 2)


numeric = (validation_error(-1.0 + 1e-5) - validation_error(-1.0 - 1e-5)) / 2e-5
assert np.isclose(gt.grad(validation_error)(-1.0), numeric, rtol=1e-4)
