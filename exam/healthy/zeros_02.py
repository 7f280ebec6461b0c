"""At the optimum the gradient is zero, as it should be; and a hinge that is satisfied everywhere."""

import numpy as np

import gradtape as gt

y = np.array([1.0, 2.0, 3.0])
assert not gt.grad(lambda w: np.sum((w - y) ** 2))(y).any()
assert not gt.grad(lambda w: np.sum(np.maximum(0.0, 1.0 - w * y)))(np.array([5.0, 5.0, 5.0])).any()
