# expect: GT110
# cause: the mask of valid steps is for 12 steps and the losses are for the 10 that were kept
# wrong: raises ShapeError
# cure: np.where(valid, losses, 0.0) -> np.where(valid[:10], losses, 0.0)
import numpy as np

import gradtape as gt

signal = np.sin(np.arange(12.0))
valid = signal > -0.5


def masked_loss(w):
    losses = (w[0] * signal[:10] + w[1] - signal[2:]) ** 2
    return np.where(valid, losses, 0.0).sum() / valid.sum()  # <- here


g = gt.grad(masked_loss)(np.array([0.5, 0.0]))
