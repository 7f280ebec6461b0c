"""Poisson regression; the rate of the intercept-only model is a parameter of shape (1,)."""

import numpy as np

import gradtape as gt

counts = np.random.default_rng(3).poisson(4.0, size=200)
log_rate = gt.Variable([0.0])
for _ in range(60):
    with gt.GradientTape() as tape:
        rate = np.exp(log_rate)
        nll = np.mean(rate - counts * np.log(rate))
    log_rate.assign_sub(0.1 * tape.gradient(nll, log_rate))
assert abs(np.exp(log_rate.numpy()[0]) - counts.mean()) < 0.05
