# expect: GT117
# cause: the losses are a vector after the sum over classes; there is no axis 1 to take the mean over
# wrong: raises AxisError
# cure: losses.mean(axis=1) -> losses.mean(axis=0)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
logits = gt.tensor(rng.normal(size=(6, 3)), requires_grad=True)
onehot = np.eye(3)[rng.integers(0, 3, size=6)]
losses = -(onehot * gt.log_softmax(logits)).sum(axis=1)
loss = losses.mean(axis=1)  # <- here
loss.backward()
