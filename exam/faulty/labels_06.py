# expect: GT118 or GT115
# cause: the labels count from 1, the ten classes from 0
# wrong: raises IndexError
# cure: cross_entropy(logits, labels) -> cross_entropy(logits, labels - 1)
import numpy as np

import gradtape as gt
from gradtape.nn import functional as F

rng = np.random.default_rng(5)
x, labels = rng.normal(size=(20, 4)), np.tile(np.arange(1, 11), 2)
W = gt.Variable(np.zeros((4, 10)))
with gt.GradientTape() as tape:
    logits = x @ W
    loss = F.cross_entropy(logits, labels)  # <- here
g = tape.gradient(loss, W)
