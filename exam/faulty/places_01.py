# expect: GT101
# cause: inside a lambda in a comprehension, a column of forecasts meets a vector of sales
# wrong: losses[0] > 1.0
# cure: (X @ w - sales) -> (X @ w - sales[:, None])
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X = rng.normal(size=(25, 2))
sales = X @ np.array([1.0, 2.0])
objective = lambda w, p: np.mean(np.abs(X @ w - sales) ** p)  # <- here
losses = [float(gt.value_and_grad(lambda w, p=p: objective(w, p))(np.array([[1.0], [2.0]]))[0]) for p in (2.0, 4.0)]
