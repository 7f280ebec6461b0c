"""Both operands are stretched, and the lengths differ: 30 points against 5 knots."""

import numpy as np

import gradtape as gt

x = np.linspace(0, 1, 30).reshape(-1, 1)
knots = gt.Variable(np.linspace(0, 1, 5))
heights = gt.Variable(np.zeros(5))
values = []
for _ in range(30):
    with gt.GradientTape() as tape:
        basis = np.maximum(0.0, 1.0 - 4.0 * np.abs(x - knots))
        loss = np.mean((basis @ heights - np.sin(3 * x[:, 0])) ** 2)
    gk, gh = tape.gradient(loss, (knots, heights))
    knots.assign_sub(0.01 * gk)
    heights.assign_sub(1.0 * gh)
    values.append(float(loss))
assert values[-1] < 0.1 * values[0]
