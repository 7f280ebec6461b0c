# expect: GT401
# cause: a target that is not finite: the operation that meets it did not save it
# wrong: not np.isfinite(w.grad.numpy()).all()
# cure: np.log([1.0, 0.0, 2.0]) -> np.log([1.0, 0.5, 2.0])
import numpy as np

import gradtape as gt

with np.errstate(divide="ignore"):
    y = np.log([1.0, 0.0, 2.0])
w = gt.tensor(np.ones(2), requires_grad=True)
prediction = np.tanh(np.ones((3, 2)) @ w)
loss = np.mean((prediction - y) ** 2)  # <- here
loss.backward()
