import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class SoftUpdates:
    """Twin critics with target networks and a temperature that is learned."""

    def __init__(self):
        self.critics = nn.ModuleList([nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1)) for _ in range(2)])
        self.targets = copy.deepcopy(self.critics)
        self.actor = nn.Linear(4, 2)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.critic_opt = torch.optim.Adam(self.critics.parameters(), lr=1e-3)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.alpha_opt = torch.optim.Adam([self.log_alpha], lr=1e-3)

    def act(self, state):
        mean, log_std = self.actor(state).chunk(2, dim=-1)
        normal = torch.distributions.Normal(mean, log_std.clamp(-5, 2).exp())
        raw = normal.rsample()
        return raw.tanh(), normal.log_prob(raw) - torch.log(1 - raw.tanh().pow(2) + 1e-6)

    def learn(self, state, action, reward, after):
        alpha = self.log_alpha.exp().detach()
        with torch.no_grad():
            next_action, log_p = self.act(after)
            joined = torch.cat([after, next_action], dim=1)
            target = reward + 0.99 * (torch.min(*(t(joined) for t in self.targets)) - alpha * log_p)
        critic_loss = sum(F.mse_loss(c(torch.cat([state, action], dim=1)), target) for c in self.critics)
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()
        new_action, log_p = self.act(state)
        value = torch.min(*(c(torch.cat([state, new_action], dim=1)) for c in self.critics))
        self.actor_opt.zero_grad()
        (alpha * log_p - value).mean().backward()
        self.actor_opt.step()
        self.alpha_opt.zero_grad()
        (-self.log_alpha * (log_p.detach() - 1)).mean().backward()
        self.alpha_opt.step()
        with torch.no_grad():
            for slow, fast in zip(self.targets.parameters(), self.critics.parameters()):
                slow.lerp_(fast, 0.01)


agent = SoftUpdates()
for step in range(5):
    agent.learn(torch.randn(16, 4), torch.rand(16, 1) * 2 - 1, torch.randn(16, 1), torch.randn(16, 4))
assert agent.log_alpha.grad.any()
