import torch
from torch import nn
from torch.distributions import Independent, Normal


class GaussianActor(nn.Module):
    def __init__(self, observations, actions):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(observations, 32), nn.ReLU(), nn.Linear(32, 2 * actions))

    def forward(self, obs):
        mean, log_std = self.net(obs).chunk(2, dim=-1)
        return Independent(Normal(mean, log_std.clamp(-5, 2).exp()), 1)


torch.manual_seed(0)
actor = GaussianActor(4, 2)
critic = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1)).requires_grad_(False)
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-4)
for step in range(3):
    obs = torch.randn(32, 4)
    pi = actor(obs)
    action = pi.rsample()
    actor_loss = -critic(torch.cat([obs, action], dim=-1)).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
assert all(p.grad is not None for p in actor.parameters())
