# expect: GT401
# cause: tanh has rounded an action to exactly 1, and the correction of the log-probability takes log(1 - 1)
# wrong: raises ValueError
# cure: torch.log(1 - action.pow(2)) -> torch.log(1 - action.pow(2) + 1e-6)
import torch
from torch import nn
from torch.distributions import Normal


class SquashedActor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, obs):
        mean, log_std = self.net(obs).chunk(2, dim=-1)
        normal = Normal(mean, log_std.clamp(-20, 2).exp())  # <- asked
        raw = normal.rsample()
        action = torch.tanh(raw)
        log_prob = normal.log_prob(raw) - torch.log(1 - action.pow(2))  # <- here
        return action, log_prob.sum(dim=-1)


torch.manual_seed(0)
actor = SquashedActor()
critic = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1)).requires_grad_(False)
optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
for step in range(4):
    obs = 60 * torch.randn(64, 3)
    action, log_prob = actor(obs)
    loss = (0.2 * log_prob - critic(torch.cat([obs / 60, action], dim=1)).squeeze(1)).mean()
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
