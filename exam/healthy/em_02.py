"""k-means as descent: the assignment by argmin is a constant, the centres move."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
points = np.concatenate([rng.normal(c, 0.2, size=(20, 2)) for c in (-1.0, 1.0)])
centres = gt.tensor([[-0.1, 0.0], [0.1, 0.0]], requires_grad=True)
history = []
for _ in range(20):
    squared = ((points[:, None, :] - centres) ** 2).sum(axis=-1)
    nearest = np.argmin(squared, axis=1)
    loss = ((points - centres[nearest]) ** 2).mean()
    loss.backward()
    with gt.no_grad():
        centres -= 1.0 * centres.grad
    centres.zero_grad()
    history.append(loss.item())
assert history[-1] < 0.1
