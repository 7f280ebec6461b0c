import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
opt = torch.optim.Adam(actor.parameters(), lr=3e-4)


def policy(state):
    mean, log_std = actor(state).chunk(2, dim=1)
    return Normal(mean, log_std.exp())


state = torch.randn(24, 3)
action = policy(state).sample()
advantage = torch.randn(24, 1)
old = policy(state).log_prob(action).detach()
for epoch in range(4):
    ratio = (policy(state).log_prob(action) - old).exp()
    clipped = ratio.clamp(0.8, 1.2)
    loss = -torch.min(ratio * advantage, clipped * advantage).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert torch.isfinite(loss)
