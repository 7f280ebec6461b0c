# expect: GT201 or GT305 because GT208
# cause: the whole forward pass was put under no_grad to save memory
# wrong: raises UntrackedError
# cure: with gt.no_grad():  # <- here -> for _ in range(1):
import numpy as np

import gradtape as gt

w = gt.tensor(np.ones(4), requires_grad=True)
x = np.arange(4.0)
with gt.no_grad():  # <- here
    h = w * x  # <- here
    out = h.sum()  # <- here
loss = (out - 1.0) ** 2
loss.backward()  # <- asked
