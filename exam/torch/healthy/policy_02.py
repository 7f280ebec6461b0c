"""Actor and critic: the advantage is detached for the actor, and the value is squeezed to the returns' shape."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 16)
        self.mean = nn.Linear(16, 2)
        self.log_std = nn.Parameter(torch.zeros(2))
        self.value = nn.Linear(16, 1)

    def forward(self, obs):
        h = torch.tanh(self.body(obs))
        return Normal(self.mean(h), self.log_std.exp()), self.value(h).squeeze(-1)


torch.manual_seed(0)
agent = ActorCritic()
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-3)
obs, returns = torch.randn(20, 3), torch.randn(20)
for update in range(4):
    dist, value = agent(obs)
    action = dist.sample()
    advantage = (returns - value).detach()
    actor_loss = -(dist.log_prob(action).sum(dim=-1) * advantage).mean()
    loss = actor_loss + 0.5 * F.mse_loss(value, returns) - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert advantage.shape == (20,)
assert agent.log_std.grad is not None
