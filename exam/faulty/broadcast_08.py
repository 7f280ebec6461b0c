# expect: GT101
# cause: the readout gives (25, 1) at each run of the recurrent network, the targets of the sequence are (25,)
# wrong: errors.shape == (25, 25)
# cure: outputs - targets -> outputs[:, 0] - targets
import numpy as np

import gradtape as gt

rng = np.random.default_rng(7)
T, H = 25, 6
signal = np.sin(np.linspace(0, 6, T + 1))
inputs, targets = signal[:-1], signal[1:]
params = {
    "Wx": rng.normal(size=(1, H)) * 0.3,
    "Wh": rng.normal(size=(H, H)) * 0.3,
    "Wo": rng.normal(size=(H, 1)) * 0.3,
}


def rnn_loss(p):
    h = np.zeros(H)
    states = []
    for value in inputs:
        h = np.tanh(value * p["Wx"][0] + h @ p["Wh"])
        states.append(h)
    outputs = np.stack(states) @ p["Wo"]
    errors = outputs - targets  # <- here
    return np.mean(errors**2), errors


grads, errors = gt.grad(rnn_loss, has_aux=True)(params)
print({k: g.shape for k, g in grads.items()})
