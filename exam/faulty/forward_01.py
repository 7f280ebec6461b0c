# expect: GT401
# cause: one probability underflows to 0 and its logarithm is minus infinity
# wrong: not np.isfinite(loss.item())
# cure: -np.log(p[np.arange(3), labels]).mean() -> -gt.log_softmax(logits)[np.arange(3), labels].mean()
import numpy as np

import gradtape as gt

logits = gt.tensor([[900.0, 0.0], [2.0, 1.0], [0.0, 3.0]], requires_grad=True)
labels = np.array([1, 0, 1])
p = gt.softmax(logits)
loss = -np.log(p[np.arange(3), labels]).mean()  # <- here
loss.backward()
