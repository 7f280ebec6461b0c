# expect: GT401
# says: trials is 0
# cause: zero counts over a zero total: 0 / 0 in one group
# wrong: np.isnan(loss.item())
# cure: hits * w / trials -> hits * w / np.maximum(trials, 1.0)
import numpy as np

import gradtape as gt

hits, trials = np.array([3.0, 0.0, 5.0]), np.array([4.0, 0.0, 9.0])
w = gt.tensor([1.0, 1.0, 1.0], requires_grad=True)
rate = hits * w / trials  # <- here
loss = (rate**2).sum()
loss.backward()
