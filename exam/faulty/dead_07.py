# expect: GT404
# cause: all units of the layer inside a network are dead
# wrong: not np.any(gradient)
# cure: - 50.0 -> + 0.5
import numpy as np

import gradtape as gt
import gradtape.nn as nn

rng = np.random.default_rng(0)
net = nn.Sequential(nn.Linear(4, 8, rng=rng), nn.ReLU(), nn.Linear(8, 1, rng=rng))
net[0].bias.assign(net[0].bias - 50.0)
x = rng.normal(size=(16, 4)).astype("float32")
with gt.GradientTape() as tape:
    out = net(x)  # <- here
    loss = np.mean((out - 1.0) ** 2)
gradient = tape.gradient(loss, net[0].weight)
