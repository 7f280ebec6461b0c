# expect: GT404
# cause: the action is clipped to [-1, 1] and lies far outside, where the slope is zero
# wrong: not np.any(g)
# cure: np.clip(raw, -1.0, 1.0) -> np.tanh(raw / 10.0)
import numpy as np

import gradtape as gt

states = np.array([[1.0, 2.0], [2.0, 1.0]])


def cost(policy):
    raw = states @ policy
    action = np.clip(raw, -1.0, 1.0)  # <- here
    return np.sum((action - 0.3) ** 2)


g = gt.grad(cost)(np.array([10.0, 10.0]))  # <- asked
