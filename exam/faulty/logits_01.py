# expect: GT509
# cause: the sigmoid is applied twice: once here, once by the loss
# wrong: float(loss) > 0.3
# cure: gt.sigmoid(x @ w) -> x @ w
import numpy as np

import gradtape as gt
import gradtape.nn.functional as F

x = np.random.default_rng(0).normal(size=(40, 3))
w = gt.Variable([9.0, -20.0, 14.0])
y = (x @ w.numpy() > 0).astype(float)
with gt.GradientTape() as tape:
    p = gt.sigmoid(x @ w)  # <- here
    loss = F.binary_cross_entropy_with_logits(p, y)  # <- asked
gradient = tape.gradient(loss, w)
