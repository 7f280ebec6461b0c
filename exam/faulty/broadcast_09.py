# expect: GT101
# cause: the target network's value was reduced to (32,) and the chosen Q value kept as (32, 1)
# wrong: td_error.shape == (32, 32)
# cure: target - q_taken -> target[:, None] - q_taken
import numpy as np

import gradtape as gt

rng = np.random.default_rng(8)
obs, next_obs = rng.normal(size=(2, 32, 4))
actions = rng.integers(0, 3, size=(32, 1))
rewards = rng.uniform(size=32)
online = gt.tensor(rng.normal(size=(4, 3)), requires_grad=True)
frozen = rng.normal(size=(4, 3))

q_taken = gt.take_along_axis(obs @ online, actions, axis=1)
target = rewards + 0.99 * (next_obs @ frozen).max(axis=1)
td_error = target - q_taken  # <- here
loss = np.where(np.abs(td_error) < 1.0, 0.5 * td_error**2, np.abs(td_error) - 0.5).mean()
loss.backward()
