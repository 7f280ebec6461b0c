# expect: GT102
# cause: the decoder ends in one unit, (32, 1), and is compared with images of 16 pixels, (32, 16)
# wrong: reconstruction.shape[1] == 1
# cure: dense(rng, 4, 1) -> dense(rng, 4, 16)
import numpy as np

import gradtape as gt


def dense(rng, n_in, n_out):
    return {"w": gt.Variable(rng.normal(size=(n_in, n_out)) * 0.2), "b": gt.Variable(np.zeros(n_out))}


rng = np.random.default_rng(3)
images = rng.uniform(size=(32, 16))
encoder, decoder = dense(rng, 16, 4), dense(rng, 4, 1)

with gt.GradientTape() as tape:
    code = np.tanh(images @ encoder["w"] + encoder["b"])
    reconstruction = code @ decoder["w"] + decoder["b"]
    squared = np.square(images - reconstruction)  # <- here
    loss = np.mean(squared)
gradients = tape.gradient(loss, {"encoder": encoder, "decoder": decoder})
