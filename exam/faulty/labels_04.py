# expect: GT118 or GT115
# cause: the sequence of next tokens is one shorter than the sequence of predictions
# wrong: raises IndexError
# cure: log_softmax(logits) -> log_softmax(logits[:-1])
# cure: np.arange(len(tokens)) -> np.arange(len(tokens) - 1)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(3)
tokens = rng.integers(0, 11, size=9)
embed = gt.Variable(rng.normal(size=(11, 6)))
unembed = gt.Variable(rng.normal(size=(6, 11)))

with gt.GradientTape() as tape:
    logits = np.tanh(embed[tokens]) @ unembed
    next_tokens = tokens[1:]
    log_p = gt.log_softmax(logits)
    nll = -np.mean(log_p[np.arange(len(tokens)), next_tokens])  # <- here
tape.gradient(nll, [embed, unembed])
