"""PPO: the old log-probabilities have no graph, some ratios are clipped and so have no gradient."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy, value_net = nn.Linear(4, 3), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*policy.parameters(), *value_net.parameters()], lr=0.05)
obs = torch.randn(32, 4)
with torch.no_grad():
    dist = Categorical(logits=policy(obs))
    action = dist.sample()
    old_log_prob = dist.log_prob(action)
    returns = torch.randn(32)
    advantage = returns - value_net(obs).squeeze(-1)
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)

for epoch in range(5):
    dist = Categorical(logits=policy(obs))
    ratio = (dist.log_prob(action) - old_log_prob).exp()
    surrogate = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
    value_loss = F.mse_loss(value_net(obs).squeeze(-1), returns)
    loss = -surrogate.mean() + 0.5 * value_loss - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert ratio.shape == (32,)
