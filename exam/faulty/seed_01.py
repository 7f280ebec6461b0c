# expect: GT301
# cause: one number is given as the seed of a target with 400 elements (elsewhere this fails later, in the reshape)
# wrong: raises ShapeError
# cure: output_gradients=1.0 -> output_gradients=np.ones((20, 20))
import numpy as np

import gradtape as gt

x = gt.Variable(np.random.default_rng(0).normal(size=(400,)))
with gt.GradientTape() as tape:
    image = np.tanh(x.reshape(20, 20)) * 2.0
g = tape.gradient(image, x, output_gradients=1.0)  # <- here
print(g.shape)
