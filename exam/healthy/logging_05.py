"""A histogram, a rounded copy and a comparison of a tracked tensor, for printing only."""

import numpy as np

import gradtape as gt

w = gt.tensor(np.linspace(-1, 1, 11), requires_grad=True)
h = np.tanh(3 * w)
shown = np.round(h, 2).tolist()
share_on = float((h > 0).mean())
counts, _ = np.histogram(h.numpy(), bins=4)
loss = (h**2).sum()
loss.backward()
assert counts.sum() == 11
assert 0.4 < share_on < 0.5
assert len(shown) == 11
assert np.any(w.grad.numpy())
