# expect: GT312
# cause: a part of a NumPy array is filled with a tracked tensor
# wrong: raises DetachError
# cure: padded = np.zeros(10) -> padded = gt.zeros(10)
import numpy as np

import gradtape as gt

kernel = gt.tensor([0.25, 0.5, 0.25], requires_grad=True)
padded = np.zeros(10)
padded[3:6] = kernel  # <- here
power = np.sum(padded**2)
power.backward()
