"""Numbers for a log by float() and format, one of them the same as a constant of the program."""

import numpy as np

import gradtape as gt

w = gt.Variable(0.5)
x, y = np.arange(4.0), 0.5 * np.arange(4.0) + 0.25
lines = []
for step in range(5):
    with gt.GradientTape() as tape:
        pred = w * x
        lines.append(f"step {step}: w = {float(w):.3f}, first = {float(pred[0])}")
        loss = 0.5 * np.mean((pred - y) ** 2)
    lines.append(f"loss {loss:.4f}")
    w.assign_sub(0.1 * tape.gradient(loss, w))
assert len(lines) == 10
assert float(w) > 0.5
