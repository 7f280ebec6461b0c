# expect: GT305
# cause: the loss was computed with the data alone, so what comes out is a NumPy number
# wrong: raises UntrackedError
# cure: np.sum((data - data.mean()) ** 2) -> np.sum((data - centre) ** 2)
import numpy as np

import gradtape as gt

data = np.array([1.0, 2.0, 4.0])
centre = gt.Variable(2.0)
with gt.GradientTape() as tape:
    spread = np.sum((data - data.mean()) ** 2)  # <- here
g = tape.gradient(spread, centre)  # <- here
