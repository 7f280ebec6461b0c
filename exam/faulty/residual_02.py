# expect: GT102
# cause: the mean over the batch leaves one prediction (1,), which is compared with all 90 targets
# wrong: output.size == 1
# cure: (X @ w + b).mean(axis=0) -> (X @ w + b)[:, 0]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
X = rng.normal(size=(90, 2))
y = 3.0 * X[:, 0] - X[:, 1] + 0.5
w = gt.tensor(np.zeros((2, 1)), requires_grad=True)
b = gt.tensor(np.zeros(1), requires_grad=True)


def predict(X):
    return (X @ w + b).mean(axis=0)


output = predict(X)
loss = ((y - output) ** 2).sum()  # <- here
loss.backward()
print(w.grad.shape, b.grad.shape)
