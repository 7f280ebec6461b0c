"""A policy with Bernoulli actions: they are sampled, and the gradient is of their log-probability."""

import torch
from torch import nn
from torch.distributions import Bernoulli

torch.manual_seed(0)
x = torch.randn(50, 3)
policy = nn.Linear(3, 1)
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
baseline = 0.0
for _ in range(15):
    choice = Bernoulli(logits=policy(x))
    action = choice.sample()
    reward = (action == (x[:, :1] > 0)).float()
    loss = -(choice.log_prob(action) * (reward - baseline)).mean()
    baseline = 0.9 * baseline + 0.1 * reward.mean().item()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert 0 <= baseline <= 1
