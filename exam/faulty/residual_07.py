# expect: GT101
# cause: the network ends in one unit (n, 1), the targets are (n,), and the Huber loss is of all pairs
# wrong: r.shape == (45, 45)
# cure: r = net(X) - y -> r = net(X)[:, 0] - y
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X, y = rng.normal(size=(45, 3)), rng.normal(size=45)
net = gt.nn.Sequential(gt.nn.Linear(3, 8), gt.nn.Tanh(), gt.nn.Linear(8, 1)).initialise(rng)
with gt.GradientTape() as tape:
    r = net(X) - y  # <- here
    loss = np.mean(np.where(np.abs(r) < 1.0, 0.5 * r**2, np.abs(r) - 0.5))
g = tape.gradient(loss, net.parameters())
