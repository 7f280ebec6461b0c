# expect: GT309
# cause: the first row is a live view of the tensor that is then written to
# wrong: raises MutationError
# cure: first = grid[0] -> first = grid[0].copy()
import numpy as np

import gradtape as gt

heat = gt.Variable(np.ones((4, 4)))
with gt.GradientTape() as tape:
    grid = heat * 1.0
    first = grid[0]
    grid[1:] = 0.5  # <- here
    loss = np.sum(grid**2) + np.sum(first)
g = tape.gradient(loss, heat)
