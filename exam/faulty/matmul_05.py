# expect: GT111
# cause: the prediction's covariance uses H where H.T belongs: (2, 2) @ (1, 2)
# wrong: raises ShapeError
# cure: P @ H @ -> P @ H.T @
import numpy as np

import gradtape as gt

H = np.array([[1.0, 0.0]])
F = np.array([[1.0, 0.1], [0.0, 1.0]])
observations = np.array([0.1, 0.25, 0.33, 0.52])


def kalman_cost(log_q):
    x, P, cost = np.zeros(2), np.eye(2), 0.0
    for z in observations:
        x, P = F @ x, F @ P @ F.T + np.exp(log_q) * np.eye(2)
        S = H @ P @ H.T + 0.1
        innovation = z - H @ x
        K = P @ H @ np.linalg.inv(S)  # <- here
        x, P = x + K @ innovation, P - K @ H @ P
        cost = cost + np.sum(innovation**2 / S[0])
    return cost


print(gt.grad(kalman_cost)(-1.0))
