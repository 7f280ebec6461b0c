# expect: GT201 because GT202
# says: net.second.weight
# says: net.first.weight
# cause: the second layer is made in __init__ and not called in forward
# wrong: raises UntrackedError
# cure: return np.tanh(self.first(x)) -> return self.second(np.tanh(self.first(x)))
import numpy as np

import gradtape as gt


class Net(gt.nn.Module):
    def __init__(self):
        self.first = gt.nn.Linear(3, 3)
        self.second = gt.nn.Linear(3, 3)

    def forward(self, x):
        return np.tanh(self.first(x))


rng = np.random.default_rng(0)
net = Net().initialise(rng)
X, y = rng.normal(size=(16, 3)), rng.normal(size=(16, 3))
optimiser = gt.optim.SGD(0.1)
with gt.GradientTape() as tape:
    loss = np.mean((net(X) - y) ** 2)  # <- here
grads = tape.gradient(loss, net.parameters())
optimiser.apply_gradients(zip(grads, net.parameters()))  # <- here
