"""A mixture of Gaussians: data as a column against the components."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
data = np.concatenate([rng.normal(-2, 0.5, 60), rng.normal(2, 0.5, 60)])
params = {"means": gt.Variable([-0.5, 0.7]), "logits": gt.Variable([0.0, 0.0])}

history = []
for _ in range(50):
    with gt.GradientTape() as tape:
        log_weights = gt.log_softmax(params["logits"])
        log_density = -0.5 * ((data[:, None] - params["means"]) / 0.5) ** 2
        loss = -gt.logsumexp(log_weights + log_density, axis=1).mean()
    grads = tape.gradient(loss, params)
    for name, p in params.items():
        p.assign_sub(0.2 * grads[name])
    history.append(loss.item())
assert history[-1] < history[0]
assert np.allclose(np.sort(params["means"].numpy()), [-2, 2], atol=0.3)
