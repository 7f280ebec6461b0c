"""All pairs on purpose, with NumPy under another name."""

import numpy as onp

import gradtape as gt


def energy(x):
    apart = onp.abs(onp.expand_dims(x, 1)) - onp.abs(x)
    together = onp.sqrt(onp.exp(x[:, None])) * x
    return onp.sum(apart**2) + onp.sum(together)


assert onp.isfinite(gt.grad(energy)(onp.arange(1.0, 5.0))).all()
