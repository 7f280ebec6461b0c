# expect: GT309
# cause: the weights are updated with -= while their graph still awaits a second backward
# wrong: raises MutationError
# cure: w -= 0.1 * w.grad -> w = (w - 0.1 * w.grad).detach()
import numpy as np

import gradtape as gt

w = gt.tensor(np.array([2.0, 1.0]), requires_grad=True)
loss = (w**3).sum()
loss.backward()
w -= 0.1 * w.grad  # <- here
