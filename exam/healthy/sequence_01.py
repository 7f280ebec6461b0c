"""A recurrent network over a sequence, all outputs against all targets."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
signal = np.sin(np.linspace(0, 8, 31))
inputs, targets = signal[:-1], signal[1:]
p = {"wx": rng.normal(size=6) * 0.4, "wh": rng.normal(size=(6, 6)) * 0.3, "wo": rng.normal(size=6) * 0.4}


def loss(p):
    h, outputs = np.zeros(6), []
    for x in inputs:
        h = np.tanh(x * p["wx"] + h @ p["wh"])
        outputs.append(h @ p["wo"])
    return np.mean((np.stack(outputs) - targets) ** 2)


values = []
for _ in range(15):
    value, g = gt.value_and_grad(loss)(p)
    p = {k: p[k] - 0.1 * g[k] for k in p}
    values.append(value)
assert values[-1] < values[0]
