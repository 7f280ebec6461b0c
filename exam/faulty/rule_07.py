# expect: GT304
# cause: bwd returns the gradient itself, not a tuple with one for each argument
# wrong: raises RuleError
# cure: lambda t, g: g * (1.0 - t**2) -> lambda t, g: (g * (1.0 - t**2),)
import numpy as np

import gradtape as gt


@gt.custom_vjp
def squash(x):
    return np.tanh(x)


squash.defvjp(
    lambda x: (np.tanh(x), np.tanh(x)),
    lambda t, g: g * (1.0 - t**2),  # <- here
)
g = gt.grad(lambda x: np.sum(squash(x)))(np.zeros(3))  # <- asked
