# expect: GT101
# cause: the network's output is (64, 1) and the target (64,): the mean is taken over 64 x 64 differences
# wrong: residual.shape == (64, 64)
# cure: self.forward(X) - y -> self.forward(X)[:, 0] - y
import numpy as np

import gradtape as gt


class MLP:
    def __init__(self, rng, hidden=8):
        self.w1 = gt.tensor(rng.normal(size=(2, hidden)) * 0.5, requires_grad=True)
        self.b1 = gt.tensor(np.zeros(hidden), requires_grad=True)
        self.w2 = gt.tensor(rng.normal(size=(hidden, 1)) * 0.5, requires_grad=True)

    def forward(self, X):
        return gt.tanh(X @ self.w1 + self.b1) @ self.w2

    def residual(self, X, y):
        return self.forward(X) - y  # <- here


rng = np.random.default_rng(1)
X = rng.uniform(-1, 1, size=(64, 2))
y = X[:, 0] * X[:, 1]
model = MLP(rng)
residual = model.residual(X, y)
loss = (residual**2).mean()
loss.backward()
print(loss.item(), model.w2.grad.shape)
