# expect: GT101
# cause: values come out of the critic as (16, 1) while the returns are (16,), so the advantage is a 16 x 16 matrix
# wrong: advantage.shape == (16, 16)
# cure: returns - values -> returns - values[:, 0]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(3)
states = rng.normal(size=(16, 4))
rewards = rng.uniform(size=16)

returns = np.zeros(16)
running = 0.0
for t in reversed(range(16)):
    running = rewards[t] + 0.9 * running
    returns[t] = running

critic_w = gt.Variable(rng.normal(size=(4, 1)) * 0.1)
critic_b = gt.Variable([0.0])

with gt.GradientTape() as tape:
    values = states @ critic_w + critic_b
    advantage = returns - values  # <- here
    critic_loss = np.mean(np.square(advantage))
grads = tape.gradient(critic_loss, [critic_w, critic_b])
for v, g in zip([critic_w, critic_b], grads, strict=True):
    v.assign_sub(0.01 * g)
