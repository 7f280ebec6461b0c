# expect: GT311
# cause: the function returns a dict with the loss and other figures
# wrong: raises OperandError
# cure: return {"loss": loss, "size": x.size} -> return loss
import numpy as np

import gradtape as gt


def objective(x):  # <- here
    loss = np.sum(x**2)
    return {"loss": loss, "size": x.size}  # <- here


value, g = gt.value_and_grad(objective)(np.ones(3))  # <- here
