"""DDPG whose critic is updated after both backward passes."""

import torch
from torch import nn

torch.manual_seed(43)
actor = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2), nn.Tanh())
critic = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
actor_opt = torch.optim.SGD(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.SGD(critic.parameters(), lr=1e-2)

for _ in range(2):
    state, action, target = torch.randn(8, 3), torch.rand(8, 2), torch.randn(8, 1)
    critic_loss = nn.functional.mse_loss(critic(torch.cat([state, action], 1)), target)
    actor_loss = -critic(torch.cat([state, actor(state)], 1)).mean()
    critic_opt.zero_grad()
    critic_loss.backward()

    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
    critic_opt.step()
assert actor_loss.isfinite()
