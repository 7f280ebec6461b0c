# expect: GT101
# cause: the probabilities come out of the network as a column, and the stored actions were squeezed
# wrong: log_prob.shape != (18,)
# cure: torch.sigmoid(self.net(s)) -> torch.sigmoid(self.net(s)).squeeze(-1)
import torch
from torch import nn
from torch.distributions import Bernoulli


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 1))

    def forward(self, s):
        return torch.sigmoid(self.net(s))


torch.manual_seed(0)
gate = Gate()
optimizer = torch.optim.RMSprop(gate.parameters(), lr=1e-3)
baseline = 0.0
for episode in range(4):
    state = torch.randn(18, 5)
    policy = Bernoulli(probs=gate(state))
    action = policy.sample().squeeze()
    reward = (action == (state[:, 0] > 0)).float()
    baseline = 0.9 * baseline + 0.1 * reward.mean().item()
    log_prob = policy.log_prob(action)  # <- here
    loss = -((reward - baseline) * log_prob).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
