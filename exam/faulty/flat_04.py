# expect: GT201 or GT305 because GT209
# cause: a perceptron's output is the sign of its score
# wrong: raises UntrackedError
# cure: gt.sign(X @ w) -> gt.tanh(X @ w)
import numpy as np

import gradtape as gt

X = np.array([[1.0, 2.0], [-1.0, 0.5], [0.3, -1.0]])
y = np.array([1.0, -1.0, -1.0])
w = gt.tensor([0.1, 0.1], requires_grad=True)
out = gt.sign(X @ w)  # <- here
loss = ((out - y) ** 2).sum()
loss.backward()  # <- asked
