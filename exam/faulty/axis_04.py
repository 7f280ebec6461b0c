# expect: GT117
# cause: the axes of an image batch (batch, height, width) are given in four numbers
# wrong: raises ValueError
# cure: (0, 3, 1, 2) -> (0, 2, 1)
import numpy as np

import gradtape as gt

batch = gt.tensor(np.ones((2, 4, 5)), requires_grad=True)
channels_first = np.transpose(batch, (0, 3, 1, 2))  # <- here
(channels_first**2).sum().backward()
