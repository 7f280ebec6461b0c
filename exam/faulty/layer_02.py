# expect: GT116 or GT110
# cause: the scale of the normalisation has 8 entries and its features are 6
# wrong: raises ShapeError
# cure: np.ones(8) -> np.ones(6)
import numpy as np

import gradtape as gt
from gradtape.nn import functional as F

x = np.random.default_rng(10).normal(size=(5, 6))
scale = gt.tensor(np.ones(8), requires_grad=True)
out = F.layer_norm(x, (6,), scale)  # <- here
out.sum().backward()
