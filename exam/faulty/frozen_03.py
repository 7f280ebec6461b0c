# expect: GT201 or GT305 because GT212 or GT203
# cause: the last layer was frozen with requires_grad_(False) together with the others
# wrong: raises UntrackedError
# cure: for p in params:\n    p.requires -> for p in params[:-1]:\n    p.requires
import numpy as np

import gradtape as gt

rng = np.random.default_rng(3)
params = [gt.tensor(rng.normal(size=(2, 2)), requires_grad=True) for _ in range(3)]
for p in params:
    p.requires_grad_(False)  # <- here

h = np.array([[0.5, -0.5]])
for p in params:
    h = gt.tanh(h @ p)  # <- here
loss = h.sum()  # <- here
loss.backward()  # <- here
