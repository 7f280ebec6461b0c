# expect: GT101
# cause: the data are columns (50, 1) and the prediction was squeezed to (50,), so every one meets every target
# wrong: error.shape == (50, 50)
# cure: pred - y -> pred - y[:, 0]
import numpy as np

import gradtape as gt

x = np.linspace(-3.0, 3.0, 50)[:, None]
y = np.sin(x)

rng = np.random.default_rng(0)
w1, w2 = gt.Variable(rng.normal(size=(1, 8))), gt.Variable(rng.normal(size=(8, 1)))
for _ in range(5):
    with gt.GradientTape() as tape:
        pred = (np.tanh(x @ w1) @ w2).squeeze()
        error = pred - y  # <- here
        loss = (error**2).mean()
    for weight, gradient in zip((w1, w2), tape.gradient(loss, (w1, w2)), strict=True):
        weight.assign_sub(0.05 * gradient)
print("final loss", float(loss))
