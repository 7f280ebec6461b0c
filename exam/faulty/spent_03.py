# expect: GT308
# cause: the hidden state carries the graph of the previous sequence into the next one
# wrong: raises TapeError
# cure: state = gt.tanh -> state = state.detach()\n    state = gt.tanh
import numpy as np

import gradtape as gt

W = gt.tensor(np.eye(3) * 0.5, requires_grad=True)
state = gt.tensor(np.zeros(3))
for chunk in np.random.default_rng(1).normal(size=(4, 3)):
    state = gt.tanh(state @ W + chunk)
    loss = (state**2).sum()
    loss.backward()  # <- here
