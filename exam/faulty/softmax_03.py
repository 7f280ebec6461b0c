# expect: GT501
# cause: log_softmax runs over all axes but the classes: the cross entropy sums over axis 1, the softmax over axis 0
# wrong: not np.allclose(np.exp(log_p.numpy()).sum(axis=1), 1.0)
# cure: log_softmax(logits, axis=0) -> log_softmax(logits, axis=1)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(2)
X = rng.normal(size=(12, 5))
onehot = np.eye(4)[rng.integers(0, 4, size=12)]
w = gt.tensor(np.zeros((5, 4)), requires_grad=True)

logits = X @ w
log_p = gt.log_softmax(logits, axis=0)  # <- here
loss = -(onehot * log_p).sum(axis=1).mean()
loss.backward()
