# expect: GT101
# cause: the weights of the samples are (50,) and the squared errors (50, 1): each weight meets each error
# wrong: weighted.shape == (50, 50)
# cure: sample_weight * errors -> sample_weight[:, None] * errors
import numpy as np

import gradtape as gt

rng = np.random.default_rng(6)
X = rng.normal(size=(50, 5))
Y = X @ rng.normal(size=(5, 1))
sample_weight = rng.uniform(0.5, 1.5, size=50)

w = gt.Variable(np.zeros((5, 1)))
with gt.GradientTape() as tape:
    errors = (X @ w - Y) ** 2
    weighted = sample_weight * errors  # <- here
    loss = weighted.sum() / sample_weight.sum()
print(tape.gradient(loss, w).shape)
