# expect: GT404
# cause: the advantages of one step are normalised by their own mean, and a single number minus its mean is zero
# wrong: not any(bool(p.grad.abs().sum()) for p in policy.parameters())
# cure: advantage = reward - reward.mean() -> advantage = reward - 0.1
import torch
from torch import nn
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))

    def forward(self, state):
        return Categorical(logits=self.layers(state))


torch.manual_seed(0)
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for step in range(6):
    state = torch.randn(1, 4)
    dist = policy(state)
    action = dist.sample()
    reward = (state[:, 0] > 0).float() * action + 0.5
    advantage = reward - reward.mean()  # <- here
    loss = -(dist.log_prob(action) * advantage).mean()  # <- here
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
