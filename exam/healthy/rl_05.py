"""A policy gradient through a differentiable simulator, with the action squashed by tanh."""

import numpy as np

import gradtape as gt


def episode_cost(policy):
    x, v, cost = 1.0, 0.0, 0.0
    for _ in range(15):
        force = np.tanh(policy[0] * x + policy[1] * v)
        v = v + 0.2 * force
        x = x + 0.2 * v
        cost = cost + x**2 + 0.01 * force**2
    return cost


policy = np.zeros(2)
start = episode_cost(policy)
for _ in range(30):
    policy = policy - 0.05 * gt.grad(episode_cost)(policy)
assert episode_cost(policy) < 0.7 * start
