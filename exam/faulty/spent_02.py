# expect: GT308
# cause: the features are computed once outside the loop, and their graph is freed by the first backward
# wrong: raises TapeError
# cure: loss = ((features -> loss = ((np.tanh(X @ encoder)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X, y = rng.normal(size=(12, 3)), rng.normal(size=12)
encoder = gt.tensor(rng.normal(size=(3, 4)), requires_grad=True)
head = gt.tensor(np.zeros(4), requires_grad=True)

features = np.tanh(X @ encoder)  # <- asked
for _ in range(2):
    loss = ((features @ head - y) ** 2).mean()
    loss.backward()  # <- here
    with gt.no_grad():
        head -= 0.1 * head.grad
        head.zero_grad()
