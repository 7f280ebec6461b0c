# expect: GT201 because GT202
# says: decoder.weight
# says: encoder.weight
# cause: the reconstruction is compared without the decoder: the code itself is used
# wrong: all(v is None for v in grads)
# cure: np.mean((code - X) ** 2) -> np.mean((decoder(code) - X) ** 2)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(7)
encoder, decoder = gt.nn.Linear(4, 4).initialise(rng), gt.nn.Linear(4, 4).initialise(rng)
X = rng.normal(size=(20, 4))

with gt.GradientTape() as tape:
    code = np.tanh(encoder(X))
    loss = np.mean((code - X) ** 2)  # <- here
grads = tape.gradient(loss, decoder.parameters())  # <- here
