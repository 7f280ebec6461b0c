"""Optimisers: pure functions of nested structures at heart, with `step` for variables; schedules and clipping.

>>> import numpy as np, gradtape as gt
>>> opt = gt.optim.Adam(learning_rate=0.1)
>>> params = {"w": np.array([1.0, -2.0])}
>>> state = opt.init(params)
>>> step = gt.jit(lambda params, state: opt.update(gt.grad(lambda p: (p["w"] ** 2).sum())(params), state, params))
>>> for _ in range(200):
...     params, state = step(params, state)
>>> bool(abs(params["w"]).max() < 0.01), step.stats.traces
(True, 1)
"""

from gradtape.optim import schedules
from gradtape.optim.adaptive import Adadelta, Adagrad, Adam, Adamax, AdamW, NAdam, RAdam, RMSprop
from gradtape.optim.clipping import clip_by_norm, clip_by_value, global_norm
from gradtape.optim.gradient_descent import ASGD, SGD, Lion, Rprop
from gradtape.optim.lbfgs import LBFGS
from gradtape.optim.optimiser import Optimiser

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lion",
    "NAdam",
    "Optimiser",
    "RAdam",
    "RMSprop",
    "Rprop",
    "clip_by_norm",
    "clip_by_value",
    "global_norm",
    "schedules",
]
