import torch
from torch import nn


class GatedBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, 3, padding=1)
        self.gate = nn.Conv1d(channels, channels, 1)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        gate = self.drop(torch.sigmoid(self.gate(x)))
        return x + gate * self.conv(x)


torch.manual_seed(0)
net = nn.Sequential(
    nn.Conv1d(2, 6, 1), GatedBlock(6), GatedBlock(6), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(6, 4)
)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
for step in range(3):
    signal, label = torch.randn(8, 2, 20), torch.randint(0, 4, (8,))
    loss = nn.functional.cross_entropy(net(signal), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
