"""Tensors as indices of lists and arrays, for accuracy and a table of mistakes, beside the loss."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
w = gt.Variable(rng.normal(size=(3, 2)))
x, y = rng.normal(size=(6, 3)), np.array([0, 1, 0, 1, 1, 0])
names, table = ["no", "yes"], np.zeros((2, 2))
with gt.GradientTape() as tape:
    logits = x @ w
    predicted = logits.argmax(axis=1)
    shown = [names[p] for p in predicted]
    np.add.at(table, (y, predicted.numpy()), 1)
    loss = -gt.log_softmax(logits, axis=1)[np.arange(6), y].mean()
gradient = tape.gradient(loss, w)
assert np.any(gradient)
assert len(shown) == table.sum() == 6
