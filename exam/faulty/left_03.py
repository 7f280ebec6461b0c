# expect: GT210 or GT312
# cause: the squares are written into a NumPy array, one by one, and their gradient is lost
# wrong: not np.allclose(g.numpy(), [3.0, 12.0, 27.0])
# cure: buffer = np.zeros(3) -> buffer = gt.zeros(3)
import numpy as np

import gradtape as gt

x = gt.Variable([1.0, 2.0, 3.0])
buffer = np.zeros(3)
with gt.GradientTape() as tape:
    for i in range(3):
        buffer[i] = x[i] ** 2  # <- here
    y = np.sum(buffer * x)  # <- here
g = tape.gradient(y, x)  # <- asked
