# expect: GT302
# cause: a method used as a custom rule returns the mean of the gradient, one value for the 400 it stands for
# wrong: raises RuleError
# cure: return g.mean() * np.ones(1) -> return g * self.slope
import numpy as np

import gradtape as gt


class Activation:
    def __init__(self, slope):
        self.slope = slope

    def pull(self, g):  # <- here
        return g.mean() * np.ones(1)  # <- here

    def __call__(self, x):
        return gt.custom_gradient(lambda x: (x * self.slope, self.pull))(x)  # <- asked


w = gt.Variable(np.ones(400))
with gt.GradientTape() as tape:
    out = Activation(0.1)(w.reshape(20, 20)).reshape(400)
    loss = np.sum(out)
g = tape.gradient(loss, w)  # <- asked
