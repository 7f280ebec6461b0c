# expect: GT509
# cause: nll_loss takes logarithms, and is given the probabilities themselves
# wrong: float(loss) < 0
# cure: gt.softmax -> gt.log_softmax
import numpy as np

import gradtape as gt
import gradtape.nn.functional as F

rng = np.random.default_rng(0)
x, y = rng.normal(size=(40, 3)), rng.integers(0, 4, size=40)
w = gt.Variable(rng.normal(size=(3, 4)))
with gt.GradientTape() as tape:
    scores = gt.softmax(x @ w, axis=1)  # <- here
    loss = F.nll_loss(scores, y)  # <- here
gradient = tape.gradient(loss, w)
