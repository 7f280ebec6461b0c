"""REINFORCE with a policy of random initial weights and a last layer of zeros."""

import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 8)
        self.logits = nn.Linear(8, 2)
        self.apply(self._init)

    @staticmethod
    def _init(module):
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)

    def forward(self, state):
        return torch.distributions.Categorical(logits=self.logits(torch.tanh(self.hidden(state))))


torch.manual_seed(27)
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
for episode in range(5):
    states = torch.randn(20, 4)
    distribution = policy(states)
    actions = distribution.sample()
    returns = torch.randn(20)
    loss = -(distribution.log_prob(actions) * returns).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
final_layer = nn.Linear(8, 2)
nn.init.zeros_(final_layer.weight)
out = final_layer(torch.tanh(policy.hidden(states))).square().sum() + final_layer.weight.sum()
out.backward()
assert not torch.allclose(policy.hidden.weight[0], policy.hidden.weight[1])
