# expect: GT101
# cause: the KL term is one number for each example (12,), the reconstruction error is a column (12, 1)
# wrong: total.shape == (12, 12)
# cure: rec + kl -> rec[:, 0] + kl
import numpy as np

import gradtape as gt

rng = np.random.default_rng(10)
data = rng.normal(size=(12, 6))
noise = rng.normal(size=(12, 2))
pixel_weight = np.full((6, 1), 0.5)


def negative_elbo(params):
    encoder, decoder = params
    h = data @ encoder
    mu, log_var = h[:, :2], h[:, 2:]
    z = mu + np.exp(0.5 * log_var) * noise
    rec = (z @ decoder - data) ** 2 @ pixel_weight
    kl = -0.5 * np.sum(1 + log_var - mu**2 - np.exp(log_var), axis=1)
    total = rec + kl  # <- here
    return total.mean(), total


params = [rng.normal(size=(6, 4)) * 0.1, rng.normal(size=(2, 6)) * 0.1]
(_, total), grads = gt.value_and_grad(negative_elbo, has_aux=True)(params)
