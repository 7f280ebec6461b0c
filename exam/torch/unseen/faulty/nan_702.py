# expect: GT402
# cause: the group lasso takes the root of the sum of squares of weights that are all zero at the start
# wrong: any(bool(p.grad.isnan().any()) for p in model.parameters())
# cure: torch.sqrt((layer.weight**2).sum(dim=0)) -> torch.sqrt((layer.weight**2).sum(dim=0) + 1e-12)
import torch
from torch import nn


class Lagged(nn.Module):
    """Which of the inputs matter is found by a penalty on the column of each."""

    def __init__(self, inputs):
        super().__init__()
        self.linear = nn.Linear(inputs, 4)
        self.skip = nn.Linear(inputs, 4, bias=False)
        nn.init.zeros_(self.skip.weight)

    def forward(self, x):
        return self.linear(torch.tanh(x)) + self.skip(x)


def group_penalty(layer):
    return torch.sqrt((layer.weight**2).sum(dim=0)).sum()  # <- here


torch.manual_seed(0)
model = Lagged(6)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(2):
    x = torch.randn(30, 6)
    y = x[:, :4] * 2
    loss = (model(x) - y).square().mean() + 0.01 * group_penalty(model.skip)
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
