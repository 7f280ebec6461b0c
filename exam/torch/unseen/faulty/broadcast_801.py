# expect: GT101
# cause: the policy's parameters are columns (24, 1), and the actions were stored as numbers and became a vector (24,)
# wrong: log_prob.shape == (24, 24)
# cure: torch.tensor(stored) -> torch.tensor(stored).unsqueeze(1)
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Beta


class BetaPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 16), nn.Tanh())
        self.alpha, self.beta = nn.Linear(16, 1), nn.Linear(16, 1)

    def forward(self, s):
        h = self.body(s)
        return Beta(F.softplus(self.alpha(h)) + 1, F.softplus(self.beta(h)) + 1)


torch.manual_seed(0)
policy = BetaPolicy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for update in range(3):
    states = torch.randn(24, 3)
    with torch.no_grad():
        stored = [policy(s.unsqueeze(0)).sample().item() for s in states]
    actions, returns = torch.tensor(stored), torch.randn(24, 1)
    log_prob = policy(states).log_prob(actions)  # <- here
    loss = -(log_prob * returns).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
