# expect: GT101
# cause: the last step of each sequence is (batch, 1), the label (batch,)
# wrong: delta.shape == (22, 22)
# cure: hidden @ readout -> (hidden @ readout)[:, 0]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(12)
sequences, labels = rng.normal(size=(22, 7, 2)), rng.normal(size=22)
inner, readout = rng.normal(size=(2, 2)), gt.tensor(rng.normal(size=(2, 1)), requires_grad=True)
hidden = np.zeros((22, 2))
for step in range(7):
    hidden = np.tanh(hidden @ inner + sequences[:, step])
last = hidden @ readout
delta = last - labels  # <- here
loss = (delta * delta).mean()
loss.backward()
