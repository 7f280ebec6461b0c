# expect: GT201 because GT204
# cause: the features are computed from the image before the adversarial tape watches the image
# wrong: step is None
# cure: tape:\n    features -> tape:\n    tape.watch(image)\n    features
# cure: \n    tape.watch(image)  # <- here\n -> \n
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
image = gt.tensor(rng.uniform(size=(5, 5)))
filters = rng.normal(size=(5, 3))

with gt.GradientTape() as tape:
    features = gt.relu(image @ filters)  # <- here
    tape.watch(image)  # <- here
    logits = features.mean(axis=0)
    loss = -gt.log_softmax(logits)[1]
step = tape.gradient(loss, image)  # <- asked
