# expect: GT118 or GT115
# cause: the labels are numbered from 1 to 4 and the logits have the columns 0 to 3
# wrong: raises IndexError
# cure: labels] -> labels - 1]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X = rng.normal(size=(12, 5))
labels = np.tile([1, 2, 3, 4], 3)
W = gt.Variable(np.zeros((5, 4)))

with gt.GradientTape() as tape:
    log_probs = gt.log_softmax(X @ W)
    picked = log_probs[np.arange(12), labels]  # <- here
    loss = -picked.mean()
print(tape.gradient(loss, W).shape)
