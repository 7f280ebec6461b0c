# expect: GT309
# cause: the first row is a view of the variable, which is written to through it
# wrong: raises MutationError
# cure: first = heat[0] -> first = heat[0].copy()
import numpy as np

import gradtape as gt

heat = gt.Variable(np.ones((4, 4)))
with gt.GradientTape() as tape:
    first = heat[0]
    first += 0.5  # <- here
    loss = np.sum(heat**2) + np.sum(first)
g = tape.gradient(loss, heat)
