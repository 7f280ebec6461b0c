import torch
from torch import nn
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))

    def forward(self, x):
        return torch.softmax(self.net(x), dim=-1)


torch.manual_seed(0)
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for episode in range(3):
    states, returns = torch.randn(25, 4), torch.randn(25)
    probs = policy(states)
    dist = Categorical(probs=probs)
    actions = dist.sample()
    loss = -(dist.log_prob(actions) * returns).mean() - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert torch.allclose(dist.probs, probs)
