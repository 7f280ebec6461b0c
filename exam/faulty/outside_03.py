# expect: GT201 because GT211
# cause: the features are computed once before the tape is opened
# wrong: grad_basis is None
# cure: \nfeatures = np.sin(x[:, None] * frequencies)  # <- here\n -> \n
# cure: as tape:\n -> as tape:\n    features = np.sin(x[:, None] * frequencies)\n
import numpy as np

import gradtape as gt

x = np.linspace(0, 3, 25)
frequencies = gt.Variable([1.0, 2.0, 3.0])
features = np.sin(x[:, None] * frequencies)  # <- here

with gt.GradientTape() as tape:
    loss = np.mean((features.sum(axis=1) - x) ** 2)
grad_basis = tape.gradient(loss, frequencies)  # <- asked
