import torch
from torch import nn


class SqueezeExcite(nn.Module):
    def __init__(self, channels, strength=2.0):
        super().__init__()
        self.strength = strength
        self.down, self.up = nn.Linear(channels, channels // 2), nn.Linear(channels // 2, channels)

    def forward(self, x):
        pooled = x.mean(dim=(2, 3))
        gate = torch.sigmoid(self.up(torch.relu(self.down(pooled))))
        gate = gate * self.strength
        return x * gate[:, :, None, None]


torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(3, 8, 3), SqueezeExcite(8), nn.Flatten(), nn.Linear(8 * 36, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(3):
    images = torch.rand(5, 3, 8, 8)
    loss = (net(images) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
