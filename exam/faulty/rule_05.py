# expect: GT303
# cause: the rule computes in float64 for a float32 argument
# wrong: raises RuleError
# cure: np.cos(np.asarray(x, dtype=np.float64)) -> np.cos(x)
import numpy as np

import gradtape as gt


@gt.custom_vjp
def fast_sin(x):
    return np.sin(x)


def rule(x, g):  # <- here
    return (g * np.cos(np.asarray(x, dtype=np.float64)),)  # <- here


fast_sin.defvjp(lambda x: (fast_sin(x), x), rule)

signal = np.linspace(0, 1, 8, dtype=np.float32)
g = gt.grad(lambda s: np.sum(fast_sin(s)))(signal)  # <- asked
