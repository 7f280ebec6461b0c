"""Binary cross entropy with logits, and a layer norm in front."""

import numpy as np

import gradtape as gt
from gradtape.nn import functional as F

rng = np.random.default_rng(2)
X = rng.normal(size=(40, 4)) + 3.0
y = (X[:, 0] > X[:, 1]).astype(float)
scale = gt.tensor(np.ones(4), requires_grad=True)
w = gt.tensor(np.zeros(4), requires_grad=True)
values = []
for _ in range(40):
    loss = F.binary_cross_entropy_with_logits(F.layer_norm(X, (4,), scale) @ w, y)
    loss.backward()
    with gt.no_grad():
        for p in (scale, w):
            p -= 0.5 * p.grad
            p.zero_grad()
    values.append(loss.item())
assert values[-1] < 0.6 * values[0]
