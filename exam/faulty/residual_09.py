# expect: GT102
# cause: the model returns the mean over the ensemble as (1, n) members summed away: one curve value against all times
# wrong: np.shape(curve) == (1,)
# cure: axis=1 -> axis=0
import numpy as np

import gradtape as gt

rng = np.random.default_rng(3)
t = np.linspace(0.0, 1.0, 30)
seen = np.sin(t)
amplitudes = gt.tensor(rng.normal(size=(1, 1)), requires_grad=True)
members = amplitudes * t[None, :]
curve = members.mean(axis=1)
loss = np.sum((curve - seen) ** 2)  # <- here
loss.backward()
