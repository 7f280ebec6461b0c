# expect: GT314 or GT305
# cause: an array is passed as the source, which the tape cannot know; the watched tensor was thrown away
# wrong: raises OperandError
# cure: tape.watch(x)  # <- here -> x = tape.watch(x)
import numpy as np

import gradtape as gt

x = np.array([1.0, 2.0])
with gt.GradientTape() as tape:
    tape.watch(x)  # <- here
    y = np.sum(x**2) + gt.tensor(0.0)
g = tape.gradient(y, x)  # <- here
