# expect: GT401
# cause: the probability of a class that the network rules out underflows to zero, and 0 * log(0) is NaN
# wrong: torch.isnan(objective).item()
# cure: (p * p.log()) -> (p * (p + 1e-12).log())
import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x, legal):
        logits = self.fc(x).masked_fill(~legal, -1e9)
        return torch.softmax(logits, dim=-1)


def entropy(p):
    return -(p * p.log()).sum(dim=-1).mean()  # <- here


torch.manual_seed(0)
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
states = torch.randn(8, 3)
legal = torch.rand(8, 4) > 0.3
legal[:, 0] = True
for update in range(2):
    p = policy(states, legal)
    objective = -p[:, 0].log().mean() - 0.01 * entropy(p)
    optimizer.zero_grad()
    objective.backward()  # <- asked
    optimizer.step()
