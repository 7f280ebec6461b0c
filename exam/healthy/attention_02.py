"""Several heads by einsum, with padding masked by where."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
B, T, H, D = 2, 5, 2, 3
x = rng.normal(size=(B, T, H * D))
valid = np.arange(T) < np.array([5, 3])[:, None]
W = {name: gt.Variable(rng.normal(size=(H * D, H, D)) * 0.3) for name in "qkv"}
with gt.GradientTape() as tape:
    q, k, v = (np.einsum("btf,fhd->bhtd", x, W[name]) for name in "qkv")
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(D)
    scores = np.where(valid[:, None, None, :], scores, -1e9)
    weights = gt.softmax(scores, axis=-1)
    out = np.einsum("bhqk,bhkd->bqhd", weights, v).reshape(B, T, H * D)
    loss = np.sum(out**2 * valid[:, :, None])
grads = tape.gradient(loss, W)
assert all(np.isfinite(g.numpy()).all() and np.any(g.numpy()) for g in grads.values())
assert np.allclose(weights.numpy()[1, :, :, 3:], 0.0)
