# expect: GT101
# cause: the simulated path has shape (61, 1) because the state is a vector of one, the measurements are (61,)
# wrong: misfit.shape == (61, 61)
# cure: path - measured -> path[:, 0] - measured
import numpy as np

import gradtape as gt

dt, steps = 0.05, 60
times = dt * np.arange(steps + 1)
measured = 2.0 * np.exp(-0.7 * times)


def simulate(rate):
    state = gt.tensor([2.0]) * 1.0
    path = [state]
    for _ in range(steps):
        state = state - dt * rate * state
        path.append(state)
    return gt.stack(path)


rate = gt.Variable(0.3, name="rate")
with gt.GradientTape() as tape:
    path = simulate(rate)
    misfit = path - measured  # <- here
    loss = gt.sum(misfit * misfit)
print("d loss / d rate =", tape.gradient(loss, rate))
