"""Runge-Kutta for Lotka and Volterra, with the state as one vector."""

import numpy as np

import gradtape as gt


def derivative(state, p):
    prey, predator = state[0], state[1]
    return np.stack([p[0] * prey - p[1] * prey * predator, p[2] * prey * predator - p[3] * predator])


def solve(p, steps=12, h=0.1):
    state = np.array([1.0, 1.0])
    path = []
    for _ in range(steps):
        k1 = derivative(state, p)
        k2 = derivative(state + h / 2 * k1, p)
        k3 = derivative(state + h / 2 * k2, p)
        k4 = derivative(state + h * k3, p)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(state)
    return np.stack(path)


true = np.array([1.0, 0.5, 0.5, 1.0])
data = solve(true)
loss = lambda p: np.mean((solve(p) - data) ** 2)
assert np.allclose(gt.grad(loss)(true), 0.0)
p = np.array([0.9, 0.6, 0.5, 1.0])
start = loss(p)
for _ in range(5):
    p = p - 0.02 * gt.grad(loss)(p)
assert loss(p) < start
