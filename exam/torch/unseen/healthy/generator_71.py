"""A policy with a baseline: the advantage is a constant column, log-probabilities and entropies are columns too."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
actor, critic = nn.Linear(4, 3), nn.Linear(4, 1)
opt = torch.optim.Adam([{"params": actor.parameters()}, {"params": critic.parameters(), "lr": 1e-2}], lr=1e-3)
for episode in range(4):
    s = torch.randn(25, 4)
    d = Categorical(logits=actor(s))
    a = d.sample()
    returns = (a == s.argmax(1) % 3).float().unsqueeze(1)
    value = critic(s)
    advantage = (returns - value).detach()
    policy_loss = -(d.log_prob(a).unsqueeze(1) * advantage).mean()
    loss = policy_loss + 0.5 * (returns - value).square().mean() - 0.01 * d.entropy().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert actor.weight.grad is not None
