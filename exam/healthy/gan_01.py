"""Two tapes: the discriminator learns from detached samples, the generator through a frozen discriminator."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
G = {"w": gt.Variable([[1.0]]), "b": gt.Variable([0.0])}
D = {"w": gt.Variable([[0.1]]), "b": gt.Variable([0.0])}
generate = lambda z: z @ G["w"] + G["b"]
judge = lambda x: x @ D["w"] + D["b"]

for _ in range(60):
    real, noise = rng.normal(3.0, 1.0, size=(32, 1)), rng.normal(size=(32, 1))
    with gt.GradientTape() as tape:
        fake = gt.stop_gradient(generate(noise))
        d_loss = np.mean(gt.softplus(-judge(real))) + np.mean(gt.softplus(judge(fake)))
    for v, g in zip(D.values(), tape.gradient(d_loss, list(D.values())), strict=True):
        v.assign_sub(0.1 * g)
    with gt.GradientTape() as tape:
        g_loss = np.mean(gt.softplus(-judge(generate(noise))))
    for v, g in zip(G.values(), tape.gradient(g_loss, list(G.values())), strict=True):
        v.assign_sub(0.1 * g)
assert G["b"].numpy()[0] > 1.0
