# expect: GT306
# cause: two targets and only one seed
# wrong: raises StructureError
# cure: [np.ones(3)] -> [np.ones(3), 1.0]
import numpy as np

import gradtape as gt

x = gt.Variable(np.ones(3))
with gt.GradientTape() as tape:
    mean, spread = x * 2.0, np.sum(x**2)
g = tape.gradient([mean, spread], x, output_gradients=[np.ones(3)])  # <- here
