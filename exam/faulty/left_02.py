# expect: GT210
# cause: the temperature leaves the tape as float() and comes back as a constant
# wrong: g[1] == 0
# cure: float(np.exp(params[1])) -> np.exp(params[1])
import numpy as np

import gradtape as gt

logits = np.array([2.0, 1.0, 0.5])


def calibrated(params):
    temperature = float(np.exp(params[1]))  # <- here
    scaled = (logits * params[0]) / temperature  # <- here
    return -gt.log_softmax(scaled)[0]


g = gt.grad(calibrated)(np.array([1.0, 0.5]))  # <- asked
