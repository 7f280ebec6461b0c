# expect: GT201 because GT207
# cause: the prediction is cast to integers to be compared with the counts
# wrong: g is None
# cure: rates.astype(int) -> rates
import numpy as np

import gradtape as gt

counts = np.array([2, 0, 3, 1])
log_rates = gt.Variable(np.full(4, 0.9))
with gt.GradientTape() as tape:
    rates = np.exp(log_rates)
    predicted = rates.astype(int)  # <- here
    loss = ((predicted - counts) ** 2).sum()
g = tape.gradient(loss, log_rates)  # <- asked
