"""Training: `gt.fit`, its history, and early stopping.

>>> import numpy as np, gradtape as gt
>>> rng = np.random.default_rng(0)
>>> x = rng.normal(size=(64, 2)).astype(np.float32)
>>> model = gt.nn.Sequential(gt.nn.Dense(2, 8), gt.nn.Tanh(), gt.nn.Dense(8, 1)).initialise(rng)
>>> history = gt.fit(model, (x, x[:, :1] * x[:, 1:]), gt.nn.functional.mse_loss, epochs=5, rng=rng)
>>> len(history["loss"]), history.stopped
(5, 'finished')
"""

from gradtape.training.fitting import fit
from gradtape.training.history import History
from gradtape.training.stopping import EarlyStopping

__all__ = ["EarlyStopping", "History", "fit"]
