import torch
from torch import nn


class Forecast(nn.Module):
    def __init__(self, features=3, hidden=20):
        super().__init__()
        self.gru = nn.GRU(features, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 6)

    def forward(self, window):
        states, _ = self.gru(window)
        return self.head(states[:, -1])


def windows(series, length, horizon):
    for begin in range(0, len(series) - length - horizon, 8):
        yield series[begin : begin + length], series[begin + length : begin + length + horizon, 0]


torch.manual_seed(1)
series = torch.randn(120, 3).cumsum(dim=0) * 0.1
xs, ys = map(torch.stack, zip(*windows(series, 24, 6)))
net = Forecast()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
for epoch in range(4):
    prediction, target = net(xs), ys
    loss = (prediction - target).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert prediction.shape == target.shape
