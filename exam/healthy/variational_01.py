"""A variational autoencoder with the reparametrisation trick, one number for each example."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
data = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 5))


def negative_elbo(params, noise):
    h = np.tanh(data @ params["enc"])
    mu, log_var = h @ params["mu"], h @ params["lv"]
    z = mu + np.exp(0.5 * log_var) * noise
    rec = np.sum((z @ params["dec"] - data) ** 2, axis=1)
    kl = -0.5 * np.sum(1.0 + log_var - mu**2 - np.exp(log_var), axis=1)
    return np.mean(rec + kl)


shapes = {"enc": (5, 8), "mu": (8, 2), "lv": (8, 2), "dec": (2, 5)}
params = {name: rng.normal(size=shape) * 0.1 for name, shape in shapes.items()}
values = []
for _ in range(60):
    value, g = gt.value_and_grad(negative_elbo)(params, rng.normal(size=(30, 2)))
    params = {name: params[name] - 0.05 * g[name] for name in params}
    values.append(float(value))
assert values[-1] < 0.8 * values[0]
