# expect: GT401
# cause: exp of a large margin overflows before the logarithm brings it back
# wrong: not np.isfinite(g.numpy()).all()
# cure: np.log(1 + np.exp(-margins)) -> np.logaddexp(0.0, -margins)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(4)
X = 100.0 * rng.normal(size=(50, 3))
y = np.sign(X @ np.array([1.0, -2.0, 0.5]))
w = gt.Variable(np.array([20.0, 20.0, 20.0]))
with np.errstate(all="ignore"), gt.GradientTape() as tape:
    margins = y * (X @ w)
    loss = np.mean(np.log(1 + np.exp(-margins)))  # <- here
g = tape.gradient(loss, w)
print(g)
