"""A Kalman filter with matrices: gain, covariance and innovation."""

import numpy as np

import gradtape as gt

F, H = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[1.0, 0.0]])
z = np.sin(0.3 * np.arange(15))


def cost(log_q):
    x, P, total = np.zeros((2, 1)), np.eye(2), 0.0
    for value in z:
        x, P = F @ x, F @ P @ F.T + np.exp(log_q) * np.eye(2)
        S = H @ P @ H.T + 0.1
        e = value - H @ x
        K = P @ H.T @ np.linalg.inv(S)
        x, P = x + K @ e, (np.eye(2) - K @ H) @ P
        total = total + np.sum(e**2 / S + np.log(S))
    return total


assert gt.gradcheck(cost, -1.0)
