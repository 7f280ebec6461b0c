"""A language model of bigrams: an embedding is looked up, and the next token is picked."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(3)
tokens = rng.integers(0, 7, size=40)
embed, unembed = gt.Variable(rng.normal(size=(7, 5)) * 0.1), gt.Variable(rng.normal(size=(5, 7)) * 0.1)
values = []
for _ in range(40):
    with gt.GradientTape() as tape:
        log_p = gt.log_softmax(embed[tokens[:-1]] @ unembed)
        loss = -log_p[np.arange(39), tokens[1:]].mean()
    ge, gu = tape.gradient(loss, (embed, unembed))
    embed.assign_sub(2.0 * ge)
    unembed.assign_sub(2.0 * gu)
    values.append(float(loss))
assert abs(values[0] - np.log(7)) < 0.05
assert values[-1] < values[0] - 0.1
