"""Sinkhorn iterations: the axis of the normalisation alternates."""

import numpy as np

import gradtape as gt

cost = np.random.default_rng(5).uniform(size=(4, 4))


def transport(scale):
    log_plan = -cost * scale
    for _ in range(20):
        log_plan = log_plan - gt.logsumexp(log_plan, axis=1, keepdims=True)
        log_plan = log_plan - gt.logsumexp(log_plan, axis=0, keepdims=True)
    return np.sum(np.exp(log_plan) * cost)


value, slope = gt.value_and_grad(transport)(5.0)
assert slope < 0.0
assert 0.0 < value < cost.sum()
