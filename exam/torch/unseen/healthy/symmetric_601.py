import torch
from torch import nn


def initialise(module):
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 16)
        self.out = nn.Linear(16, 2)
        self.apply(initialise)

    def forward(self, state):
        return self.out(torch.tanh(self.hidden(state)))


torch.manual_seed(0)
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for episode in range(4):
    states = torch.randn(20, 4)
    chances = torch.distributions.Categorical(logits=policy(states))
    actions = (states[:, 0] > 0).long()
    loss = -(chances.log_prob(actions) * torch.rand(20)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert not (bool((policy.hidden.weight == policy.hidden.weight[0]).all()))
