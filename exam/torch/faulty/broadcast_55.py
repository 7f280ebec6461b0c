# expect: GT101
# cause: the old log-probabilities were stored as a column, and the ratio of PPO becomes (24, 24)
# wrong: ratio.ndim == 2 and ratio.shape[1] == 24
# cure: torch.stack(stored) -> torch.cat(stored)
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)

observations, actions, stored = [], [], []
with torch.no_grad():
    for _ in range(24):
        obs = torch.randn(1, 5)
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        observations.append(obs)
        actions.append(action)
        stored.append(dist.log_prob(action))
obs, action = torch.cat(observations), torch.cat(actions)
old_log_prob = torch.stack(stored)  # <- here
advantage = torch.randn(24)

for epoch in range(3):
    dist = Categorical(logits=policy(obs))
    ratio = torch.exp(dist.log_prob(action) - old_log_prob)  # <- here
    loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
