# expect: GT210
# cause: the returns are collected as floats, so the baseline is a constant
# wrong: abs(g.numpy()[0] - 0.33298) < 1e-4
# cure: float(outcome) -> outcome
import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
episodes = [rng.normal(size=(5, 3)) for _ in range(4)]
theta = gt.Variable(np.array([0.3, -0.2, 0.5]))
with gt.GradientTape() as tape:
    returns = []
    for e in episodes:
        outcome = np.tanh(e @ theta).sum()
        returns.append(float(outcome))  # <- here
    baseline = sum(returns) / len(returns)
    loss = np.mean((np.tanh(episodes[0] @ theta) - baseline) ** 2)
g = tape.gradient(loss, theta)
print(g)
