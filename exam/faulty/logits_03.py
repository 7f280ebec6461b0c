# expect: GT509
# cause: nll_loss takes logarithms of probabilities, and is given the logits
# wrong: float(loss) < 0
# cure: F.nll_loss -> F.cross_entropy
import numpy as np

import gradtape as gt
import gradtape.nn as nn
import gradtape.nn.functional as F

rng = np.random.default_rng(0)
x = rng.normal(size=(40, 3)).astype("float32")
net = nn.Sequential(nn.Linear(3, 8, rng=rng), nn.ReLU(), nn.Linear(8, 4, rng=rng))
y = net(x).numpy().argmax(axis=1)
with gt.GradientTape() as tape:
    loss = F.nll_loss(net(x), y)  # <- here
gradients = tape.gradient(loss, list(net.parameters()))
