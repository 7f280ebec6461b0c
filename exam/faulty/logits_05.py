# expect: GT509
# cause: the network ends in a Softmax layer, and CrossEntropyLoss has its own
# wrong: float(loss) > 0.5
# cure: , nn.Softmax()) -> )
import numpy as np

import gradtape as gt
import gradtape.nn as nn

rng = np.random.default_rng(0)
last = nn.Linear(4, 3, rng=rng)
last.weight.assign(60 * last.weight)
net = nn.Sequential(last, nn.Softmax())
criterion = nn.CrossEntropyLoss()
x = rng.normal(size=(30, 4)).astype("float32")
y = net(x).numpy().argmax(axis=1)
with gt.GradientTape() as tape:
    loss = criterion(net(x), y)  # <- here
gradients = tape.gradient(loss, list(net.parameters()))
