# expect: GT110
# cause: the mean over features (axis 1) is (20,), which does not fit (20, 5) without keepdims
# wrong: raises ShapeError
# cure: x - x.mean(axis=1) -> x - x.mean(axis=1, keepdims=True)
import numpy as np

import gradtape as gt


def layer_norm(x, scale):
    centred = x - x.mean(axis=1)  # <- here
    return scale * centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)


x = gt.tensor(np.random.default_rng(2).normal(size=(20, 5)), requires_grad=True)
scale = gt.tensor(np.ones(5), requires_grad=True)
out = layer_norm(x, scale)
(out * np.arange(5.0)).sum().backward()
