# expect: GT110
# cause: the last batch of the epoch has 4 examples, the noise was drawn for a full batch of 6
# wrong: raises ShapeError
# cure: noise_std * noise -> noise_std * noise[: len(xb)]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(4)
X = rng.normal(size=(16, 2))
noise = rng.normal(size=(6, 2))
noise_std = gt.tensor(0.1, requires_grad=True)

total = 0.0
for start in range(0, len(X), 6):
    xb = X[start : start + 6]
    noisy = xb + noise_std * noise  # <- here
    loss = (np.sin(noisy) ** 2).mean()
    loss.backward()
    total += loss.item()
