# expect: GT115
# cause: the loop runs one step past the end of the sequence
# wrong: raises IndexError
# cure: range(len(y)) -> range(len(y) - 1)
import numpy as np

import gradtape as gt

y = gt.tensor(np.linspace(0.0, 1.0, 12) ** 2, requires_grad=True)

roughness = 0.0
for i in range(len(y)):
    roughness = roughness + (y[i + 1] - y[i]) ** 2  # <- here
roughness.backward()
