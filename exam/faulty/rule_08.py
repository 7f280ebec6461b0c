# expect: GT302
# cause: a hook that was meant to clip returns the norm of the gradient in its place
# wrong: raises RuleError
# cure: return np.minimum(np.sqrt(np.sum(g**2)), 1.0) -> return g * np.minimum(1.0 / np.sqrt(np.sum(g**2)), 1.0)
import numpy as np

import gradtape as gt


def clip_by_norm(g):  # <- here
    return np.minimum(np.sqrt(np.sum(g**2)), 1.0)  # <- here


w = gt.tensor(np.full((4, 5), 3.0), requires_grad=True)
w.register_hook(clip_by_norm)  # <- here
loss = (w.reshape(20) ** 2).sum()
loss.backward()  # <- asked
