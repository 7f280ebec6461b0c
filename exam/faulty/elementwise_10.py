# expect: GT110
# cause: the new weights have the shape of another layer: (3, 4) into a variable of (4, 3)
# wrong: raises ShapeError
# cure: W.assign(pretrained) -> W.assign(pretrained.T)
import numpy as np

import gradtape as gt

W = gt.Variable(np.zeros((4, 3)), name="decoder")
pretrained = np.random.default_rng(0).normal(size=(3, 4))
W.assign(pretrained)  # <- here
with gt.GradientTape() as tape:
    loss = np.sum(np.tanh(np.ones((2, 4)) @ W))
g = tape.gradient(loss, W)
