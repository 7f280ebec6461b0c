"""The best value so far decides when to stop and how long the step is; it never enters the loss."""

import numpy as np

import gradtape as gt

f = lambda x: np.sum((x - np.array([1.0, -1.0])) ** 2) + np.sum(np.cos(x))
x = gt.tensor(np.zeros(2), requires_grad=True)
best, rate, history = np.inf, 0.5, []
for _ in range(40):
    loss = f(x)
    value = float(loss)
    history.append(value)
    if value > best:
        rate *= 0.5
    best = min(best, value)
    loss.backward()
    x = (x.detach() - rate * x.grad).requires_grad_()
assert history[-1] <= history[0]
