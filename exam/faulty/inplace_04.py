# expect: GT309
# cause: half of the mask is cleared through a view while the graph still needs the whole
# wrong: raises MutationError
# cure: x * mask -> x * mask.copy()
import numpy as np

import gradtape as gt

x = gt.tensor(np.arange(1.0, 7.0), requires_grad=True)
mask = np.ones(6)
first_half = mask[:3]
kept = x * mask  # <- here
first_half[:] = 0.0  # <- here
loss = (kept**2).sum()
loss.backward()  # <- asked
