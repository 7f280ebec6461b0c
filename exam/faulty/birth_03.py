# expect: GT401
# cause: the scores are taken for probabilities: a sigmoid is missing
# wrong: not np.isfinite(float(loss))
# cure: z = X @ w -> z = gt.sigmoid(X @ w)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X = rng.normal(size=(32, 4))
y = rng.integers(0, 2, 32).astype(float)
w = gt.Variable(rng.normal(size=4))
with np.errstate(all="ignore"), gt.GradientTape() as tape:
    z = X @ w
    loss = -np.mean(y * np.log(z) + (1 - y) * np.log(1 - z))  # <- here
g = tape.gradient(loss, w)
print(g)
