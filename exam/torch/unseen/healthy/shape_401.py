import torch
from torch import nn


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.pool = nn.Conv2d(1, 4, 3), nn.MaxPool2d(2)
        self.out = nn.Linear(36, 3)

    def forward(self, x):
        x = torch.flatten(self.pool(torch.relu(self.conv(x))), 1)
        return self.out(x)


torch.manual_seed(0)
net = Small()
loss = net(torch.rand(5, 1, 8, 8)).square().mean()
loss.backward()
assert torch.isfinite(loss)
