# expect: GT312
# cause: the method dot of a NumPy array knows nothing of tensors
# wrong: raises DetachError
# cure: X.dot(w) -> np.dot(X, w)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
w = gt.Variable(np.zeros(3))
with gt.GradientTape() as tape:
    loss = np.mean((X.dot(w) - y) ** 2)  # <- here
print(tape.gradient(loss, w))
