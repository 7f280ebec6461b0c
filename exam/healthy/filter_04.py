"""An autoregression of order two with lagged slices."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(2)
series = np.zeros(200)
for t in range(2, 200):
    series[t] = 0.6 * series[t - 1] - 0.3 * series[t - 2] + rng.normal()
phi = gt.Variable([0.0, 0.0])
for _ in range(100):
    with gt.GradientTape() as tape:
        residual = series[2:] - phi[0] * series[1:-1] - phi[1] * series[:-2]
        loss = np.mean(residual**2)
    phi.assign_sub(0.2 * tape.gradient(loss, phi))
assert np.allclose(phi.numpy(), [0.6, -0.3], atol=0.2)
