# expect: GT401
# cause: the variance goes negative after a step, and its square root is NaN
# wrong: np.isnan(history[-1])
# cure: np.sqrt(variance) -> np.sqrt(np.abs(variance))
import numpy as np

import gradtape as gt

samples = np.array([0.1, -0.2, 0.05])
variance = gt.tensor(0.5, requires_grad=True)
history = []
for _ in range(2):
    sigma = np.sqrt(variance)  # <- here
    nll = np.sum(np.log(sigma) + 0.5 * (samples / sigma) ** 2)
    nll.backward()
    with gt.no_grad():
        variance -= 0.4 * variance.grad
    variance.zero_grad()
    history.append(nll.item())
