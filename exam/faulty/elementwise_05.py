# expect: GT110
# cause: the weights of the classes are (3,), and should weigh the 3 rows of a (3, 4) table along its first axis
# wrong: raises ShapeError
# cure: weights * table -> weights[:, None] * table
import numpy as np

import gradtape as gt

table = np.arange(12.0).reshape(3, 4)
weights = gt.tensor([0.2, 0.3, 0.5], requires_grad=True)

mixture = gt.sum(weights * table, axis=0)  # <- here
entropy = -gt.sum(mixture / 22.0)
entropy.backward()
print(weights.grad)
