# expect: GT118
# cause: the labels are given as the logits, and the logits as the labels
# wrong: raises ShapeError
# cure: F.cross_entropy(kinds, flowers @ weights) -> F.cross_entropy(flowers @ weights, kinds)
import numpy as np

import gradtape as gt
import gradtape.nn.functional as F

rng = np.random.default_rng(4)
flowers, kinds = rng.normal(size=(9, 4)), np.arange(9) % 3
weights = gt.Variable(rng.normal(size=(4, 3)))
with gt.GradientTape() as tape:
    loss = F.cross_entropy(kinds, flowers @ weights)  # <- here
g = tape.gradient(loss, weights)
