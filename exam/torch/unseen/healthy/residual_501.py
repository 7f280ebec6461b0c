"""A forecast of three values, and a Gaussian likelihood that broadcasts one scale."""

import torch
from torch import nn

torch.manual_seed(5)
series = torch.randn(20, 12, 2)
target = torch.randn(20, 3)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(2, 16, batch_first=True)
        self.head = nn.Linear(16, 3)

    def forward(self, window):
        _, last = self.rnn(window)
        return self.head(last[-1])


model = Forecaster()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for _ in range(3):
    forecast = model(series)
    loss = torch.mean(torch.abs(forecast - target))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
scale = torch.ones(20, 1, requires_grad=True)
nll = (0.5 * ((forecast.detach() - target) / scale) ** 2 + scale.log()).mean()
nll.backward()
assert scale.grad is not None
