# expect: GT501
# cause: the responsibilities of a mixture are normalised over the points instead of over the components
# wrong: not np.allclose(resp.sum(axis=1), 1.0)
# cure: axis=0) -> axis=1)
import numpy as np

import gradtape as gt

x = np.array([-2.1, -1.9, 2.0, 2.2, 1.8])


def objective(means):
    log_density = -0.5 * (x[:, None] - means[None, :]) ** 2
    resp = gt.softmax(log_density, axis=0)  # <- here
    blended = np.sum(resp * means, axis=1)
    return np.sum((blended - x) ** 2), resp


g, resp = gt.grad(objective, has_aux=True)(np.array([-1.0, 1.5]))
