"""A zero that is right: the gradient of a padding row of an embedding, and of a head that is switched off."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(25)
table, heads = gt.Variable(rng.normal(size=(6, 3))), gt.Variable(rng.normal(size=(2, 3)))
tokens, weights = np.array([1, 4, 4]), np.array([1.0, 0.0])
with gt.GradientTape() as tape:
    scores = table[tokens] @ heads.T
    loss = np.sum(weights * np.mean(scores**2, axis=0))
gt_table, gt_heads = tape.gradient(loss, (table, heads))
assert not np.any(gt_table.numpy()[0])
assert not np.any(gt_heads.numpy()[1])
assert np.any(gt_heads.numpy()[0])
