# expect: GT309
# cause: the environment fills one NumPy array again at each step, and the tensors of all observations share its memory
# wrong: bool((torch.stack(seen) == seen[0]).all())
# cure: torch.from_numpy(observation).unsqueeze(0) -> torch.from_numpy(observation.copy()).unsqueeze(0)
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


class Corridor:
    """An environment that writes its observations into a buffer of its own."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.buffer = np.zeros(4, dtype=np.float32)

    def step(self, action):
        self.buffer[:] = self.rng.normal(size=4)  # <- here
        self.buffer[0] += action  # <- here
        return self.buffer, float(self.buffer[0])


torch.manual_seed(0)
env = Corridor(0)
policy = nn.Linear(4, 2)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for episode in range(3):
    log_probs, rewards, seen = [], [], []
    observation, _ = env.step(0)
    for t in range(8):
        state = torch.from_numpy(observation).unsqueeze(0)  # <- here
        seen.append(state)
        action = Categorical(logits=policy(state))  # <- here
        choice = action.sample()
        log_probs.append(action.log_prob(choice))
        observation, reward = env.step(choice.item())
        rewards.append(reward)
    loss = -(torch.cat(log_probs) * torch.tensor(rewards)).sum()
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
