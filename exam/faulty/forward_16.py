# expect: GT401
# says: np.log(
# cause: the logarithm of a large array that is zero at one place, far behind in the program
# wrong: not np.isfinite(loss.item())
# cure: np.log(counts) -> np.log(counts + 0.5)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
image = rng.uniform(0.1, 1.0, size=(300, 300))
image[17, 40] = 0.0
gain = gt.tensor(1.5, requires_grad=True)
counts = image * gain
log_counts = np.log(counts)  # <- here
smooth = (log_counts[1:] + log_counts[:-1]) / 2.0
loss = np.mean(np.tanh(smooth) + smooth)
loss.backward()
