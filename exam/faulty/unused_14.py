# expect: GT201 because GT202
# says: log_noise
# says: computed from mean
# cause: the noise is a leaf that the likelihood never reads; a constant stands in its place
# wrong: raises UntrackedError
# cure: 0.5 * residual**2 + 0.0 -> 0.5 * residual**2 * np.exp(-2.0 * log_noise) + log_noise
import numpy as np

import gradtape as gt

data = np.array([0.9, 1.4, 1.1, 0.7])
mean = gt.tensor(0.0, requires_grad=True)
log_noise = gt.tensor(0.0, requires_grad=True)
residual = data - mean
nll = np.sum(0.5 * residual**2 + 0.0)  # <- here
d_mean, d_noise = gt.gradients(nll, [mean, log_noise])  # <- here
