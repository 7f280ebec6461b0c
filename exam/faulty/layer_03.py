# expect: GT311
# cause: the layer computes its result and does not return it
# wrong: raises OperandError
# cure: x * self.scale -> return x * self.scale
import numpy as np

import gradtape as gt


class Scale(gt.nn.Module):
    def __init__(self):
        self.scale = gt.Variable(np.ones(3))

    def forward(self, x):
        x * self.scale  # <- here


layer = Scale()
with gt.GradientTape() as tape:
    loss = np.mean(layer(np.arange(6.0).reshape(2, 3)) ** 2)  # <- asked
g = tape.gradient(loss, layer.scale)
