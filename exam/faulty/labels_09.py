# expect: GT118
# cause: the classes are along the last axis, and the loss takes them to be along axis 1
# wrong: raises ShapeError
# cure: F.cross_entropy(logits, tags) -> F.cross_entropy(logits, tags, axis=-1)
import numpy as np

import gradtape as gt
import gradtape.nn.functional as F

rng = np.random.default_rng(0)
logits = gt.tensor(rng.normal(size=(2, 7, 5)), requires_grad=True)
tags = rng.integers(0, 5, size=(2, 7))
loss = F.cross_entropy(logits, tags)  # <- here
loss.backward()
