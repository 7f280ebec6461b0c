# expect: GT309
# cause: the buffer of the features is reused for the next batch while the graph still needs it
# wrong: raises ValueError
# cure: loss = np.sum((features @ w) ** 2) -> loss = np.sum((features.copy() @ w) ** 2)
import numpy as np

import gradtape as gt

features = np.ones((5, 2))
w = gt.tensor([1.0, -2.0], requires_grad=True)
loss = np.sum((features @ w) ** 2)
features *= 0.5  # <- here
loss.backward()
