# expect: GT110
# cause: the examples are axis 0 of the sequence, the steps axis 1
# wrong: raises ShapeError
# cure: sequence[t] -> sequence[:, t]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(5)
sequence = rng.normal(size=(6, 9, 3))
Wx = gt.Variable(0.3 * rng.normal(size=(3, 4)))
Wh = gt.Variable(0.3 * rng.normal(size=(4, 4)))
with gt.GradientTape() as tape:
    h = np.zeros((6, 4))
    for t in range(9):
        h = np.tanh(sequence[t] @ Wx + h @ Wh)  # <- here
    loss = np.mean(h**2)
print(tape.gradient(loss, [Wx, Wh]))
