# expect: GT101 or GT110
# cause: mse_loss gets a prediction (40, 1) and a target (40,)
# wrong: raises ShapeError
# cure: F.mse_loss(pred, y) -> F.mse_loss(pred[:, 0], y)
import numpy as np

import gradtape as gt
from gradtape.nn import functional as F

rng = np.random.default_rng(8)
X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
w = gt.tensor(np.zeros((3, 1)), requires_grad=True)
pred = X @ w
loss = F.mse_loss(pred, y)  # <- here
loss.backward()
