"""A Kalman filter of position and speed, with rows of a buffer for the states and the likelihood summed up.

Tracking, navigation, econometrics; the likelihood by the noise of process and measurement.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1, 2)
SMALL = (5,)
PAPER = (120,)


def initialise(size):
    (n,) = size
    return default_rng(42).standard_normal(n).cumsum(), 0.3, 0.8


def program(measured, process, noise):
    n = measured.shape[0]
    dt = 0.5
    F = np.array([[1.0, dt], [0.0, 1.0]])
    Q = process**2 * np.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]])
    H = np.array([[1.0, 0.0]])
    R = np.array([[noise**2]])
    states = np.zeros((n, 2))
    P = np.eye(2)
    x = np.array([measured[0], 0.0])
    likelihood = 0.0
    for k in range(n):
        x = F @ x
        P = F @ P @ F.T + Q
        innovation = measured[k] - H @ x
        S = H @ P @ H.T + R
        K = P @ H.T / S
        x = x + K @ innovation
        P = (np.eye(2) - K @ H) @ P
        states[k] = x
        likelihood -= 0.5 * (np.log(2 * np.pi * S[0, 0]) + innovation[0] ** 2 / S[0, 0])
    return likelihood + 0.1 * np.mean(states**2)
