"""Word vectors with negative sampling: indices that repeat, dot products by sum."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(8)
centre, context, noise = rng.integers(0, 12, size=(3, 30))
inside, outside = gt.Variable(rng.normal(size=(12, 4)) * 0.1), gt.Variable(rng.normal(size=(12, 4)) * 0.1)
values = []
for _ in range(25):
    with gt.GradientTape() as tape:
        c = inside[centre]
        good, bad = np.sum(c * outside[context], axis=1), np.sum(c * outside[noise], axis=1)
        loss = np.mean(gt.softplus(-good) + gt.softplus(bad))
    for v, g in zip((inside, outside), tape.gradient(loss, [inside, outside]), strict=True):
        v.assign_sub(2.0 * g)
    values.append(float(loss))
assert values[-1] < values[0]
