# expect: GT514 or GT404
# cause: all weights of the hidden layer start equal, so its units get the same gradient and stay equal
# wrong: torch.allclose(policy.hidden.weight[0], policy.hidden.weight[1])
# cure: module.weight.data.fill_(0.05) -> nn.init.xavier_uniform_(module.weight)
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
            module.weight.data.fill_(0.05)  # <- here
            nn.init.zeros_(module.bias)

    def forward(self, state):
        return torch.distributions.Categorical(logits=self.logits(torch.tanh(self.hidden(state))))


torch.manual_seed(27)
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
for episode in range(5):
    states = torch.randn(20, 4)
    distribution = policy(states)  # <- here
    actions = distribution.sample()
    returns = torch.randn(20)
    loss = -(distribution.log_prob(actions) * returns).mean()
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
