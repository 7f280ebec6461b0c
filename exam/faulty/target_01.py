# expect: GT305
# cause: the loss is turned into a Python number before its gradient is asked for
# wrong: raises UntrackedError
# cure: float(np.mean((x * w - y) ** 2)) -> np.mean((x * w - y) ** 2)
import numpy as np

import gradtape as gt

x, y = np.arange(5.0), 3 * np.arange(5.0)
w = gt.Variable(1.0)
with gt.GradientTape() as tape:
    loss = float(np.mean((x * w - y) ** 2))  # <- here
g = tape.gradient(loss, w)  # <- here
