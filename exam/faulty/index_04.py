# expect: GT115
# cause: the mask is for the 8 rows and is used on the 5 columns
# wrong: raises IndexError
# cure: scores[:, keep] -> scores[keep]
import numpy as np

import gradtape as gt

scores = gt.tensor(np.random.default_rng(1).normal(size=(8, 5)), requires_grad=True)
keep = np.array([True, False] * 4)
chosen = scores[:, keep]  # <- here
chosen.sum().backward()
